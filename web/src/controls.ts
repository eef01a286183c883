// Filters and switches. They hold no state of their own: they show what they are given and report what was asked for.
import { kLevelNames, type ChartSettings } from "./chart-model";
import { button, el } from "./dom";
import { percent } from "./format";
import { icon } from "./palette";
import { kPositions, type Level, type Machine, type Position } from "./report";
import type { Filter } from "./rows";

export interface Choices {
  levels: readonly Level[];
  precisions: readonly string[];
  ceilings: readonly string[];
  machines: readonly Machine[];
  positions: ReadonlyMap<Position, number>;
  in_use: string; // ceiling of the report
}

export interface ControlEvents {
  filter: (change: Partial<Filter>) => void;
  settings: (change: Partial<ChartSettings>) => void;
}

const kShares = [0, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1];

function select(label: string, id: string, options: readonly (readonly [string, string])[], changed: (value: string) => void) {
  const box = el("select", { id }, ...options.map(([value, text]) => el("option", { value }, text)));
  box.addEventListener("change", () => changed(box.value));
  return { box, element: el("label", { class: "field", for: id }, el("span", {}, label), box) };
}

export class Controls {
  readonly filters: HTMLElement;
  readonly chips: HTMLElement;
  private readonly search = el("input", {
    type: "search",
    id: "search",
    placeholder: "Words of the name, or /regex/",
    autocomplete: "off",
    spellcheck: "false",
  });
  private readonly error = el("p", { class: "error", role: "alert", hidden: true });
  private readonly shown = el("p", { class: "shown", role: "status" });
  private readonly positions = new Map<Position, HTMLButtonElement>();
  private readonly look: HTMLButtonElement;
  private readonly share = el("input", { type: "range", id: "least-share", min: 0, max: kShares.length - 1, step: 1, value: 0 });
  private readonly share_text = el("output", { for: "least-share" });
  private readonly clear: HTMLButtonElement;

  constructor(choices: Choices, settings: ChartSettings, events: ControlEvents) {
    // Once a frame, however fast someone types.
    let waiting = 0;
    this.search.addEventListener("input", () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => events.filter({ query: this.search.value }));
    });
    this.share.addEventListener("input", () => events.filter({ least_share: kShares[Number(this.share.value)] ?? 0 }));
    this.look = button("Worth a look", { class: "chip", "aria-pressed": "false" }, () =>
      events.filter({ look_only: this.look.getAttribute("aria-pressed") !== "true" }),
    );
    this.clear = button("Clear filters", { class: "plain", hidden: true }, () => {
      this.search.value = "";
      events.filter({ query: "", positions: new Set(), least_share: 0, look_only: false, machine: null });
      this.search.focus();
    });
    const chips = kPositions.filter((p) => choices.positions.has(p)).map((p) => this.position_chip(p, choices, events));
    this.filters = el(
      "section",
      { class: "filters", "aria-label": "Filter" },
      el("label", { class: "field search", for: "search" }, el("span", {}, "Search"), this.search),
      el("div", { class: "field share" }, el("label", { for: "least-share" }, "Least share of the time "), this.share_text, this.share),
      ...this.selects(choices, settings, events),
      this.error,
    );
    this.chips = el("div", { class: "chips", role: "group", "aria-label": "Position" }, ...chips, this.look, this.shown, this.clear);
  }

  show(filter: Filter, error: string | null, shown: string): void {
    for (const [position, chip] of this.positions) chip.setAttribute("aria-pressed", String(filter.positions.has(position)));
    this.look.setAttribute("aria-pressed", String(filter.look_only));
    const step = kShares.indexOf(filter.least_share);
    this.share.value = String(Math.max(0, step));
    this.share_text.textContent = filter.least_share > 0 ? `≥ ${percent(filter.least_share)}` : "any";
    this.share.setAttribute("aria-valuetext", this.share_text.textContent);
    this.error.textContent = error ?? "";
    this.error.hidden = error === null;
    this.shown.textContent = shown;
    this.clear.hidden =
      filter.query === "" && filter.positions.size === 0 && filter.least_share === 0 && !filter.look_only && filter.machine === null;
  }

  private position_chip(position: Position, choices: Choices, events: ControlEvents): HTMLButtonElement {
    const chip = button("", { class: "chip", "aria-pressed": "false", "data-position": position }, () => {
      const on = new Set([...this.positions].filter(([, b]) => b.getAttribute("aria-pressed") === "true").map(([p]) => p));
      if (!on.delete(position)) on.add(position);
      events.filter({ positions: on });
    });
    chip.append(icon(position), `${position} `, el("span", { class: "count" }, String(choices.positions.get(position) ?? 0)));
    this.positions.set(position, chip);
    return chip;
  }

  private selects(choices: Choices, settings: ChartSettings, events: ControlEvents): HTMLElement[] {
    const out: HTMLElement[] = [];
    const add = (label: string, id: string, now: string, options: readonly (readonly [string, string])[], changed: (value: string) => void) => {
      if (options.length < 2) return;
      const field = select(label, id, options, changed);
      field.box.value = now;
      out.push(field.element);
    };
    add("Memory level", "level", settings.level, choices.levels.map((l) => [l, kLevelNames[l]] as const), (v) => events.settings({ level: v as Level }));
    add("Precision", "precision", "", [["", "all"], ...choices.precisions.map((p) => [p, p] as const)], (v) => events.settings({ precision: v === "" ? null : v }));
    add(
      "Ceiling",
      "ceiling",
      settings.ceiling,
      choices.ceilings.map((c) => [c, c === choices.in_use ? `${c} (as reported)` : c] as const),
      (v) => events.settings({ ceiling: v }),
    );
    add(
      "Machine",
      "machine",
      "",
      choices.machines.length < 2 ? [] : [["", "all"], ...choices.machines.map((m) => [String(m.id), m.name] as const)],
      (v) => events.filter({ machine: v === "" ? null : Number(v) }),
    );
    return out;
  }
}
