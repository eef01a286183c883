// The head of the page: the one number, what it covers, and what a reader must know before believing it.
import { ceiling_in_use, ceiling_text, kLevelNames, machines_of, precisions_of, peak_of } from "./chart-model";
import { absent, append, el } from "./dom";
import { finding_element } from "./drawer";
import { count, counted, percent, printable, share, si, words } from "./format";
import type { Machine, Report } from "./report";
import type { Row } from "./rows";

export interface OneNumber {
  value: string | null;
  detail: string;
}

export function one_number(report: Report): OneNumber {
  const { total } = report;
  if (total.fraction === null) return { value: null, detail: "no kernel could be placed under a roof" };
  const sign = total.bound === "lower" ? "≥ " : "";
  const placed = total.placed_time_share ?? 0;
  const over = placed >= 0.9995 ? "over all of the time" : `over the ${share(placed)} of the time that could be placed`;
  const upper =
    total.bound === "lower" && total.fraction_upper !== null ? `, at most ${percent(total.fraction_upper)}` : "";
  return { value: sign + percent(total.fraction), detail: `of the roof, ${over}${upper}` };
}

function input_name(path: string): string {
  return path.split(/[\\/]/).pop() || path;
}

export function title_of(report: Report): string {
  const names = report.inputs.map((i) => printable(input_name(i.path)));
  if (names.length === 0) return "Roofline report";
  return names.length <= 2 ? names.join(", ") : `${names[0] ?? ""} and ${names.length - 1} more`;
}

function machine_text(m: Machine): string {
  const is_gfx = m.compute_capability?.startsWith("gfx") ?? false; // AMD's architectures have names, NVIDIA's numbers
  const architecture = m.compute_capability === null ? "" : (is_gfx ? "" : "CC ") + m.compute_capability;
  const parts = [architecture, m.sm_count === null ? "" : `${m.sm_count} ${is_gfx ? "CU" : "SM"}s`];
  const facts = parts.filter((p) => p !== "").join(", ");
  return printable(m.name) + (facts === "" ? "" : ` (${facts})`);
}

// The roofs of the machine with the most time, in one line.
export function subtitle_of(report: Report, rows: readonly Row[]): string {
  const main = machines_of(report, rows)[0] ?? report.machines[0];
  if (!main) return "No machine is known, so there are no roofs: name one with --machine.";
  const ceiling = main.ceilings.find((c) => c.kind === ceiling_in_use(report));
  if (!ceiling) return machine_text(main);
  const peaks = precisions_of(rows.filter((r) => r.kernel.machine === main.id))
    .map((p) => [p, peak_of(ceiling, p)] as const)
    .filter(([, peak]) => peak !== null)
    .slice(0, 3)
    .map(([p, peak]) => `${p} ${si(peak ?? 0, "F/s")}`);
  const dram = ceiling.bandwidths.find((b) => b.level === "dram");
  const roofs = [...peaks, ...(dram ? [`${kLevelNames.dram} ${si(dram.bytes_per_s, "B/s")}`] : [])].join(", ");
  return `${machine_text(main)} · ${ceiling_text(ceiling)}${roofs === "" ? "" : `: ${roofs}`}`;
}

function tile(label: string, value: string | HTMLElement): HTMLElement {
  return el("div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value));
}

function tiles(report: Report): HTMLElement {
  const { total, kernels } = report;
  const launches = kernels.reduce((sum, k) => sum + (k.launches ?? 0), 0);
  const look = kernels.filter((k) => k.look);
  const gain = look.reduce((sum, k) => sum + (k.gain_s ?? 0), 0);
  const out = el(
    "dl",
    { class: "tiles" },
    tile("Time", total.time_s === null ? absent("the inputs hold no times") : si(total.time_s, "s")),
    tile("Kernels", `${kernels.length} (${counted_launches(launches)})`),
    tile("FLOPs", total.flops === null ? absent("operations were not counted") : si(total.flops, "")),
    tile("DRAM traffic", total.dram_bytes === null ? absent("DRAM bytes were not counted") : si(total.dram_bytes, "B")),
  );
  if (look.length > 0) {
    const of = total.time_s !== null && total.time_s > 0 ? ` (${share(gain / total.time_s)})` : "";
    out.append(tile("Worth a look", `${counted(look.length, "kernel")}, ${si(gain, "s")}${of} to gain`));
  }
  if (total.step_fraction !== null) out.append(tile("Of the whole step", percent(total.step_fraction)));
  if (report.failed_launches > 0) out.append(tile("Failed launches", String(report.failed_launches)));
  return out;
}

function counted_launches(n: number): string {
  return n === 1 ? "1 launch" : `${count(n)} launches`;
}

function warnings(report: Report, open: (kernel: number) => void): HTMLElement | null {
  if (report.warnings.length === 0) return null;
  const items = report.warnings.map((w) => {
    const item = el("li", {}, printable(w.message));
    if (w.kernel !== null) {
      const id = w.kernel;
      const link = el("button", { type: "button", class: "link" }, "show the kernel");
      link.addEventListener("click", () => open(id));
      item.append(" ", link);
    }
    return item;
  });
  return el("section", { class: "warnings", "aria-label": "Warnings" }, el("h2", {}, counted(items.length, "warning")), el("ul", {}, ...items));
}

function details(report: Report): HTMLElement {
  const inputs = report.inputs.map((i) =>
    el("li", {}, el("code", {}, printable(i.path)), ` ${[i.format, i.producer ?? ""].filter((t) => t !== "").map(printable).join(", ")}`),
  );
  const machines = report.machines.map((m) => el("li", {}, `${machine_text(m)}: ${m.ceilings.map(ceiling_text).join(", ")}`));
  const thresholds = [...report.thresholds].map(([key, value]) => el("li", {}, `${words(key)}: ${String(value)}`));
  return el(
    "details",
    { class: "sources" },
    el("summary", {}, `${counted(inputs.length, "input")}, machines and thresholds`),
    el("h3", {}, "Inputs"),
    el("ul", {}, ...inputs),
    el("h3", {}, "Machines"),
    machines.length === 0 ? el("p", {}, "None is known; name one with --machine.") : el("ul", {}, ...machines),
    el("h3", {}, "Thresholds"),
    el("ul", { class: "columns" }, ...thresholds),
    el("p", { class: "faint" }, `Written by roofline ${report.version ?? ""}.`),
  );
}

export function header_element(report: Report, rows: readonly Row[], tools: readonly HTMLElement[], open: (kernel: number) => void): HTMLElement {
  const number = one_number(report);
  const top = el("div", { class: "top" }, el("h1", { dir: "ltr" }, title_of(report)), el("div", { class: "tools" }, ...tools));
  const out = el(
    "header",
    { class: "page-head" },
    top,
    el("p", { class: "subtitle" }, subtitle_of(report, rows)),
    el(
      "div",
      { class: "summary" },
      el(
        "p",
        { class: "one" },
        el("span", { class: "value", id: "one-number" }, number.value ?? absent(number.detail)),
        el("span", { class: "detail" }, number.detail),
      ),
      tiles(report),
    ),
  );
  append(out, warnings(report, open));
  if (report.findings.length > 0)
    out.append(
      el(
        "details",
        { class: "report-findings", open: report.findings.length <= 2 },
        el("summary", {}, `${counted(report.findings.length, "finding")} about the report as a whole`),
        ...report.findings.map(finding_element),
      ),
    );
  out.append(details(report));
  return out;
}
