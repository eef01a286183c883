// All that a report says about one kernel.
import { kLevelNames, mark_at, type ChartSettings } from "./chart-model";
import { absent, append, button, el } from "./dom";
import { count, counted, dimensions, percent, printable, ratio, share, si, words } from "./format";
import { icon } from "./palette";
import {
  evidence_of,
  fields,
  findings_of,
  kLevels,
  list,
  missing_of,
  number,
  text,
  texts,
  why_absent,
  type Finding,
  type Kernel,
  type Report,
} from "./report";
import { fraction_under, intensity_at, rate_of, type Row } from "./rows";

type Content = Node | string;

const more = (bound: string) => (bound === "lower" ? "≥ " : bound === "upper" ? "≤ " : "");

function section(title: string, ...children: (Content | null)[]): HTMLElement | null {
  const real = children.filter((c): c is Content => c !== null);
  return real.length === 0 ? null : el("section", {}, el("h3", {}, title), ...real);
}

function facts(pairs: readonly (readonly [string, Content | null])[]): HTMLElement {
  const out = el("dl");
  for (const [term, value] of pairs) if (value !== null) append(out, el("dt", {}, term), el("dd", {}, value));
  return out;
}

function known(value: number | null, show: (v: number) => string, why: () => string): Content {
  return value === null ? absent(why()) : show(value);
}

function table(head: readonly string[], rows: readonly (readonly Content[])[]): HTMLElement {
  return el(
    "div",
    { class: "wide-table" },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, ...rows.map((cells) => el("tr", {}, ...cells.map((c, i) => el(i === 0 ? "th" : "td", i === 0 ? { scope: "row" } : {}, c))))),
    ),
  );
}

function command(line: string): HTMLElement {
  const code = el("code", {}, printable(line));
  const copy = button("Copy", { class: "copy" }, () => {
    const done = () => {
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy"), 1500);
    };
    // Not every browser lets a file on disk write to the clipboard; then the text is selected, ready for Ctrl+C.
    const select = () => window.getSelection()?.selectAllChildren(code);
    if (navigator.clipboard) navigator.clipboard.writeText(line).then(done, select);
    else select();
  });
  return el("div", { class: "command" }, code, copy);
}

// ---------------------------------------------------------------- sections

function summary(kernel: Kernel, settings: ChartSettings): HTMLElement {
  const f = fraction_under(kernel, settings.ceiling);
  const upper = f.bound === "lower" && f.upper !== null ? `, at most ${percent(f.upper)}` : "";
  const of = f.binding === null ? "" : ` of the ${f.binding} roof`;
  return el(
    "div",
    { class: "verdict" },
    el("p", { class: "position" }, icon(kernel.position), kernel.position, kernel.look ? el("span", { class: "look" }, "look") : null),
    el("p", {}, f.value === null ? absent(f.why) : `${more(f.bound)}${percent(f.value)}${of}${upper}`, f.value === null ? ` ${f.why}` : null),
    kernel.reason === null || kernel.reason === f.why ? null : el("p", { class: "faint" }, printable(kernel.reason)),
    kernel.limiter === null ? null : el("p", {}, `Limited by ${kernel.limiter}.`),
    kernel.gain_s !== null && kernel.gain_s > 0 ? el("p", {}, `The same work at its roof: ${si(kernel.gain_s, "s")} less.`) : null,
    kernel.gain_less_work_s !== null && kernel.gain_less_work_s > 0
      ? el("p", {}, `Half the DRAM bytes: ${si(kernel.gain_less_work_s, "s")} less (another list; the two do not add).`)
      : null,
  );
}

const kKinds: readonly (readonly [string, string])[] = [
  ["cause", "Causes"],
  ["pitfall", "Pitfalls"],
  ["advice", "Advice"],
];

export function finding_element(f: Finding): HTMLElement {
  const gain =
    f.gain_s === null ? null : `${si(f.gain_s, "s")} less at most${f.gain_list === "less-work" ? ", by less work" : ""}`;
  return el(
    "article",
    { class: `finding ${["cause", "pitfall", "advice"].includes(f.kind) ? f.kind : ""}` },
    el("h4", {}, printable(f.title)),
    f.why === "" ? null : el("p", {}, printable(f.why)),
    f.action === "" ? null : el("p", {}, el("strong", {}, "Do: "), printable(f.action)),
    f.next === null ? null : el("p", {}, el("strong", {}, "Next: "), printable(f.next)),
    gain === null ? null : el("p", {}, el("strong", {}, "Gain: "), gain),
    f.evidence.length === 0
      ? null
      : el(
          "ul",
          { class: "metrics" },
          ...f.evidence.map((e) =>
            el("li", {}, el("code", {}, printable(e.metric)), " ", e.value === null ? absent("the metric has no value") : `${si(e.value, "")} ${printable(e.unit)}`.trim()),
          ),
        ),
    f.condition === null ? null : el("p", { class: "faint" }, `When: ${printable(f.condition)}${f.source === null ? "" : ` (${printable(f.source)})`}`),
  );
}

function findings(kernel: Kernel): (HTMLElement | null)[] {
  const all = findings_of(kernel);
  return kKinds.map(([kind, title]) => section(title, ...all.filter((f) => f.kind === kind).map(finding_element)));
}

function missing(kernel: Kernel): HTMLElement | null {
  const items = missing_of(kernel).map((m) =>
    el("div", { class: "missing" }, el("p", {}, el("strong", {}, `${m.quantity}: `), printable(m.reason)), m.collect === null ? null : command(m.collect)),
  );
  return section("What is missing, and how to get it", ...items);
}

function resources(kernel: Kernel): HTMLElement | null {
  const rows = kernel.roof.resources.map((r) => {
    const unit = r.regime !== "compute" ? "B/s" : r.name.startsWith("int") ? "op/s" : "F/s";
    const name = r.definition === "" || r.definition === r.name ? r.name : `${r.name} (${r.definition})`;
    return [
      name + (r.required ? "" : " *"),
      known(r.fraction, (v) => more(r.bound) + percent(v), () => "not known"),
      known(r.time_s, (v) => si(v, "s"), () => "not known"),
      known(r.peak, (v) => si(v, unit), () => "the input gives the share only"),
    ];
  });
  if (rows.length === 0) return null;
  const caches = kernel.roof.resources.some((r) => !r.required);
  return section(
    "Resources",
    table(["Resource", "Busy", "Time at peak", "Peak"], rows),
    caches ? el("p", { class: "faint" }, "* A cache explains a gap; it makes no roof.") : null,
  );
}

function roofs(kernel: Kernel): HTMLElement | null {
  const rows = [
    [kernel.roof.ceiling ?? "roof", kernel.roof] as const,
    ...(kernel.datasheet === null || kernel.roof.ceiling === "datasheet" ? [] : [["datasheet", kernel.datasheet] as const]),
  ].map(([kind, roof]) => [
    kind,
    known(roof.fraction, (v) => more(roof.bound) + percent(v), () => kernel.reason ?? "not placed"),
    known(roof.time_s, (v) => si(v, "s"), () => kernel.reason ?? "not placed"),
    roof.binding ?? absent("not placed"),
    roof.regime ?? absent("not placed"),
  ]);
  return section("Roofs", table(["Ceiling", "Fraction", "Least time", "Binds", "Regime"], rows));
}

function work(kernel: Kernel): HTMLElement | null {
  const stats = fields(kernel.raw.time_stats);
  const [least, median, most] = [number(stats.min), number(stats.median), number(stats.max)];
  const spread =
    least === null || median === null || most === null || (kernel.launches ?? 1) <= 1
      ? null
      : `${si(least, "s")} · ${si(median, "s")} · ${si(most, "s")}`;
  const clock = number(kernel.raw.clock_hz);
  const rate = rate_of(kernel);
  const aux = number(fields(kernel.raw.flops).aux);
  const precisions = [...kernel.by_precision].filter(([, n]) => n > 0).map(([key, n]) => `${key} ${si(n, "")}`);
  const uncounted = texts(fields(kernel.raw.flops).uncounted);
  return section(
    "Work",
    facts([
      ["Time", known(kernel.time_s, (v) => `${si(v, "s")} (${share(kernel.time_share ?? 0)})`, () => why_absent(kernel, "time"))],
      ["Launches", kernel.launches === null ? null : count(kernel.launches)],
      ["Shortest, median, longest", spread],
      ["Time basis", kernel.time_basis],
      ["Mixed launches", kernel.raw.mixed === true ? "yes: time or bytes differ between launches" : null],
      ["SM clock", clock === null ? null : si(clock, "Hz")],
      ["FLOPs", known(kernel.flops, (v) => more(kernel.flops_bound) + si(v, ""), () => why_absent(kernel, "flops"))],
      ["By precision", precisions.length === 0 ? null : precisions.join(", ")],
      ["Not counted", uncounted.length === 0 ? null : uncounted.join(", ")],
      ["Special functions", aux === null ? null : si(aux, "")],
      ["Achieved", known(rate, (v) => more(kernel.flops_bound) + si(v, "F/s"), () => why_absent(kernel, kernel.flops === null ? "flops" : "time"))],
    ]),
  );
}

function traffic(kernel: Kernel): HTMLElement | null {
  const rows = kLevels.map((level) => {
    const t = kernel.bytes[level];
    const why = () => why_absent(kernel, level);
    const intensity = intensity_at(kernel, level);
    return [
      t.definition === null || level === "dram" ? kLevelNames[level] : `${kLevelNames[level]} (${t.definition})`,
      known(t.total, (v) => more(t.bound) + si(v, "B"), why),
      known(t.read, (v) => si(v, "B"), why),
      known(t.write, (v) => si(v, "B"), why),
      known(intensity, (v) => ratio(v), () => (kernel.flops === null ? why_absent(kernel, "flops") : why())),
    ];
  });
  return section("Bytes by level", table(["Level", "Total", "Read", "Written", "FLOP/B"], rows));
}

function evidence(kernel: Kernel): HTMLElement | null {
  const items = evidence_of(kernel)
    .filter((e) => e.kind !== "absent" || e.note !== null)
    .map((e) =>
      el(
        "li",
        {},
        el("strong", {}, `${e.quantity}: `),
        e.kind,
        e.recipe === null ? null : `, recipe ${printable(e.recipe)}`,
        e.note === null ? null : `. ${printable(e.note)}`,
        e.metrics.length === 0 ? null : el("div", { class: "metrics" }, el("code", {}, printable(e.metrics.join("  ")))),
      ),
    );
  return items.length === 0 ? null : section("Where the numbers come from", el("ul", { class: "evidence" }, ...items));
}

function activity(kernel: Kernel): HTMLElement | null {
  const plain = new Set(["waves", "grid_blocks", "sm_count"]);
  const pairs: (readonly [string, string])[] = [];
  for (const [key, value] of Object.entries(fields(kernel.raw.activity))) {
    const n = number(value);
    const t = text(value);
    if (n !== null) pairs.push([words(key), key.endsWith("_bytes") ? si(n, "B") : plain.has(key) ? count(n) : percent(n)]);
    else if (t !== null && t !== "none" && t !== "unknown") pairs.push([words(key), printable(t)]);
  }
  return pairs.length === 0 ? null : section("Activity", facts(pairs));
}

function identity(kernel: Kernel, report: Report): HTMLElement | null {
  const input = report.inputs[kernel.input];
  const machine = report.machines.find((m) => m.id === kernel.machine);
  const ids = list(kernel.raw.launch_ids).filter((v): v is number => typeof v === "number");
  const kMostIds = 12;
  const device = number(kernel.raw.device);
  const stream = number(kernel.raw.stream);
  const rank = number(kernel.raw.rank);
  return section(
    "Identity",
    facts([
      ["Operator", kernel.operator === null ? null : printable(kernel.operator)],
      ["Grid × block", kernel.grid === null && kernel.block === null ? null : `${dimensions(kernel.grid)} × ${dimensions(kernel.block)}`],
      ["Input", input ? printable(input.path) : null],
      ["Machine", machine ? printable(machine.name) : absent("the input names no machine")],
      ["Device, stream", `${device ?? 0}, ${stream ?? 0}${rank === null ? "" : `, rank ${rank}`}`],
      ["NVTX", kernel.nvtx.length === 0 ? null : printable(kernel.nvtx.join(" / "))],
      ["Records", ids.length === 0 ? null : ids.slice(0, kMostIds).join(", ") + (ids.length > kMostIds ? `, … (${counted(ids.length, "record")})` : "")],
      ["Known by", kernel.tier],
    ]),
  );
}

// ---------------------------------------------------------------- drawer

export class Drawer {
  readonly element: HTMLElement;
  private readonly title = el("h2", { id: "drawer-title", dir: "ltr" });
  private readonly content = el("div", { class: "content" });
  private readonly close_button: HTMLButtonElement;

  constructor(private readonly closed: () => void) {
    this.close_button = button("×", { class: "close", "aria-label": "Close (Escape)" }, () => this.close());
    this.element = el(
      "aside",
      { class: "drawer", role: "dialog", "aria-labelledby": "drawer-title", hidden: true },
      el("header", {}, this.title, this.close_button),
      this.content,
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
  }

  get open(): boolean {
    return !this.element.hidden;
  }

  show(row: Row, report: Report, settings: ChartSettings): void {
    const { kernel } = row;
    this.title.textContent = row.label;
    const levels = kLevels.filter((l) => mark_at(row, l, settings) !== null);
    this.content.replaceChildren();
    append(
      this.content,
      el("pre", { class: "full-name", tabindex: 0, dir: "ltr", "aria-label": "Full name" }, printable(kernel.full_name)),
      summary(kernel, settings),
      ...findings(kernel),
      missing(kernel),
      resources(kernel),
      roofs(kernel),
      work(kernel),
      traffic(kernel),
      levels.length > 1 ? el("p", { class: "faint" }, "The chart joins this kernel’s memory levels by a dotted line.") : null,
      activity(kernel),
      section("Notes", ...texts(kernel.raw.notes).map((n) => el("p", {}, printable(n)))),
      evidence(kernel),
      identity(kernel, report),
    );
    this.element.hidden = false;
    this.content.scrollTop = 0;
  }

  focus(): void {
    this.close_button.focus({ preventScroll: true });
  }

  close(): void {
    if (!this.open) return;
    this.element.hidden = true;
    this.closed();
  }
}
