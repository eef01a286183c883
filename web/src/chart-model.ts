// What the chart shows, in log10 of the field's units; no pixels and no drawing here. The rules are those of the
// program's own charts.
import { counted, percent, ratio, share, si } from "./format";
import { kLevels, type Bound, type Ceiling, type Kernel, type Level, type Machine, type Position, type Report } from "./report";
import { fraction_under, intensity_at, level_fraction, type Row } from "./rows";
import type { Range, View } from "./scale";

export interface ChartSettings {
  level: Level;
  precision: string | null; // null: all
  ceiling: string; // kind of the roofs drawn solid
}

// Towards which side of the drawn point the truth lies.
export type Toward = "nowhere" | "up" | "left" | "right";

export interface Mark {
  row: Row;
  x: number; // log10 FLOP/byte
  y: number; // log10 FLOP/s
  roof_y: number | null; // log10 of the rate that the binding roof allows
  share: number;
  position: Position;
  toward: Toward;
  at: Level; // a cache-resident kernel stands at its L2 intensity
}

export interface StripMark {
  row: Row;
  fraction: number; // of the level's bandwidth
  share: number;
  position: Position;
  unknown: boolean; // FLOPs not known, rather than none
}

export interface RoofLine {
  kind: "memory" | "compute";
  role: "in-use" | "datasheet" | "other";
  level: Level | null;
  value: number; // bytes/s or FLOP/s
  name: string;
  label: string;
}

export interface Ridge {
  x: number;
  y: number;
  label: string;
}

export interface ChartModel {
  marks: Mark[]; // most time first
  strip: StripMark[];
  roofs: RoofLine[];
  ridges: Ridge[];
  home: View;
  strip_high: number;
  hidden: { rows: number; share: number };
  machine: Machine | null;
  ceiling: Ceiling | null;
}

export const kLevelNames: Record<Level, string> = { dram: "DRAM", l2: "L2", l1: "L1", shared: "shared memory" };

// ---------------------------------------------------------------- roofs

// Merged keys ("fp16_bf16_tf32.tensor") take the best of their members, as the roof of a kernel does.
export function peak_of(ceiling: Ceiling, precision: string): number | null {
  const key = precision.replace(".acc32", "");
  const exact = ceiling.peaks.find((p) => p.precision.replace(".acc32", "") === key);
  if (exact) return exact.ops_per_s;
  const [types = "", ...rest] = key.split(".");
  const members = types.split(/[_+]/).map((type) => [type, ...rest].join("."));
  const peaks = ceiling.peaks.filter((p) => members.includes(p.precision)).map((p) => p.ops_per_s);
  return peaks.length > 0 ? Math.max(...peaks) : null;
}

// Precisions with counted operations, most of them first.
export function precisions_of(rows: readonly Row[]): string[] {
  const operations = new Map<string, number>();
  for (const { kernel } of rows)
    for (const [key, n] of kernel.by_precision) if (n > 0) operations.set(key, (operations.get(key) ?? 0) + n);
  return [...operations].sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

export function levels_of(rows: readonly Row[]): Level[] {
  return kLevels.filter((l) => l === "dram" || rows.some((r) => r.kernel.bytes[l].total !== null));
}

// The machine with the most time, then the others.
export function machines_of(report: Report, rows: readonly Row[]): Machine[] {
  const time = new Map<number, number>();
  for (const { kernel } of rows)
    if (kernel.machine !== null) time.set(kernel.machine, (time.get(kernel.machine) ?? 0) + (kernel.time_s ?? 0));
  return report.machines.filter((m) => time.has(m.id)).sort((a, b) => (time.get(b.id) ?? 0) - (time.get(a.id) ?? 0));
}

// The ceiling that most of the time was placed under.
export function ceiling_in_use(report: Report): string {
  if (report.total.ceiling !== null) return report.total.ceiling;
  const time = new Map<string, number>();
  for (const k of report.kernels)
    if (k.roof.ceiling !== null) time.set(k.roof.ceiling, (time.get(k.roof.ceiling) ?? 0) + (k.time_s ?? 0));
  return [...time].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "datasheet";
}

function memory_line(level: Level, definition: string, value: number, role: RoofLine["role"]): RoofLine {
  const name = level === "dram" || definition === "" ? kLevelNames[level] : `${kLevelNames[level]} (${definition})`;
  return { kind: "memory", role, level, value, name, label: `${name} ${si(value, "B/s")}` };
}

function compute_line(name: string, value: number, role: RoofLine["role"]): RoofLine {
  return { kind: "compute", role, level: null, value, name, label: `${name} ${si(value, "F/s")}` };
}

// The bandwidth that rows were placed by, where the ceiling has none of their definition: weighted by time.
function placed_bandwidth(rows: readonly Row[], level: Level): { definition: string; value: number } | null {
  const sums = new Map<string, { time: number; value: number }>();
  for (const { kernel } of rows) {
    const used = kernel.roof.resources.find((r) => r.name === level);
    if (!used || used.peak === null) continue;
    const sum = sums.get(used.definition) ?? { time: 0, value: 0 };
    const time = kernel.time_s ?? 0;
    sums.set(used.definition, { time: sum.time + time, value: sum.value + time * used.peak });
  }
  const most = [...sums].sort((a, b) => b[1].time - a[1].time)[0];
  if (!most || most[1].time <= 0) return null;
  return { definition: most[0], value: most[1].value / most[1].time };
}

function memory_lines(rows: readonly Row[], ceiling: Ceiling, role: RoofLine["role"], in_use: boolean): RoofLine[] {
  const out: RoofLine[] = [];
  for (const level of kLevels) {
    const counted = new Set(rows.map((r) => r.kernel.bytes[level].definition).filter((d) => d !== null));
    const known = ceiling.bandwidths.filter((b) => b.level === level && (level === "dram" || counted.has(b.definition)));
    for (const b of known) out.push(memory_line(level, b.definition, b.bytes_per_s, role));
    if (known.length > 0 || !in_use || level === "dram") continue;
    const placed = placed_bandwidth(rows, level);
    if (placed) out.push(memory_line(level, placed.definition, placed.value, role));
  }
  return out;
}

function compute_lines(rows: readonly Row[], ceiling: Ceiling, role: RoofLine["role"], only: string | null): RoofLine[] {
  const wanted = only === null ? precisions_of(rows) : [only];
  const out: RoofLine[] = [];
  for (const precision of wanted) {
    const peak = peak_of(ceiling, precision);
    if (peak !== null) out.push(compute_line(precision, peak, role));
  }
  if (out.length > 0 || only !== null) return out;
  // Nothing counted: the roof that most charts show.
  const usual = ceiling.peaks.find((p) => p.precision === "fp32.vector") ?? ceiling.peaks[0];
  return usual ? [compute_line(usual.precision, usual.ops_per_s, role)] : [];
}

// Names that mean one and the same line become one.
function merged(lines: readonly RoofLine[]): RoofLine[] {
  const out: RoofLine[] = [];
  for (const line of lines) {
    const twin = out.find(
      (o) => o.kind === line.kind && o.role === line.role && Math.abs(o.value - line.value) <= 0.005 * o.value,
    );
    if (!twin) out.push({ ...line });
    else if (!twin.name.split(", ").includes(line.name)) {
      twin.name += `, ${line.name}`;
      twin.label = `${twin.name} ${si(twin.value, twin.kind === "memory" ? "B/s" : "F/s")}`;
    }
  }
  return out;
}

function roofs_of(report: Report, rows: readonly Row[], settings: ChartSettings) {
  const machines = machines_of(report, rows);
  const main = machines[0] ?? report.machines[0] ?? null;
  const ceiling = main?.ceilings.find((c) => c.kind === settings.ceiling) ?? null;
  const lines: RoofLine[] = [];
  if (main && ceiling) {
    const own = rows.filter((r) => r.kernel.machine === main.id);
    const in_use = settings.ceiling === ceiling_in_use(report);
    lines.push(...memory_lines(own, ceiling, "in-use", in_use), ...compute_lines(own, ceiling, "in-use", settings.precision));
    const sheet = main.ceilings.find((c) => c.kind === "datasheet");
    if (settings.ceiling !== "datasheet" && sheet)
      lines.push(
        ...memory_lines(own, sheet, "datasheet", false).filter((l) => l.level === "dram"),
        ...compute_lines(own, sheet, "datasheet", settings.precision),
      );
  }
  for (const other of machines.slice(1, 3)) {
    const roofs = other.ceilings.find((c) => c.kind === settings.ceiling) ?? other.ceilings[0];
    if (!roofs) continue;
    const own = rows.filter((r) => r.kernel.machine === other.id);
    const all = [
      ...memory_lines(own, roofs, "other", false).filter((l) => l.level === "dram"),
      ...compute_lines(own, roofs, "other", settings.precision),
    ];
    lines.push(...all.map((l) => ({ ...l, label: `${other.name}: ${l.label}` })));
  }
  return { main, ceiling, lines: merged(lines) };
}

function ridges_of(roofs: readonly RoofLine[], level: Level): Ridge[] {
  const slope = roofs.find((r) => r.role === "in-use" && r.level === level);
  if (!slope) return [];
  return roofs
    .filter((r) => r.role === "in-use" && r.kind === "compute")
    .map((r) => ({
      x: Math.log10(r.value / slope.value),
      y: Math.log10(r.value),
      label: `ridge ${ratio(r.value / slope.value)} FLOP/B`,
    }));
}

// ---------------------------------------------------------------- marks

interface Counted {
  flops: number | null;
  bound: Bound;
}

function counted_flops(kernel: Kernel, precision: string | null): Counted {
  if (precision === null) return { flops: kernel.flops, bound: kernel.flops_bound };
  return { flops: kernel.by_precision.get(precision) ?? null, bound: "exact" };
}

function toward_of(flops: Bound, bytes: Bound): Toward {
  if (flops === "lower") return "up";
  if (bytes === "lower") return "left";
  return bytes === "upper" ? "right" : "nowhere";
}

// At one level: nothing where time, bytes or FLOPs are missing or zero.
export function mark_at(row: Row, level: Level, settings: ChartSettings): Mark | null {
  const { kernel } = row;
  const { flops, bound } = counted_flops(kernel, settings.precision);
  const bytes = kernel.bytes[level];
  if (flops === null || flops <= 0 || bytes.total === null || bytes.total <= 0) return null;
  if (kernel.time_s === null || kernel.time_s <= 0) return null;
  const rate = flops / kernel.time_s;
  const level_use = level_fraction(kernel, level);
  const whole = level === "dram" ? fraction_under(kernel, settings.ceiling).value : level_use;
  return {
    row,
    x: Math.log10(flops / bytes.total),
    y: Math.log10(rate),
    roof_y: whole !== null && whole > 0 && settings.precision === null ? Math.log10(rate / whole) : null,
    share: Math.min(1, Math.max(0, kernel.time_share ?? 0)),
    position: kernel.position,
    toward: toward_of(bound, bytes.bound),
    at: level,
  };
}

function placed_mark(row: Row, settings: ChartSettings): Mark | null {
  if (settings.level === "dram" && row.kernel.cache_resident) {
    const at_l2 = mark_at(row, "l2", settings);
    if (at_l2) return { ...at_l2, roof_y: null };
  }
  return mark_at(row, settings.level, settings);
}

function strip_mark(row: Row, settings: ChartSettings): StripMark | null {
  if (settings.precision !== null) return null;
  const fraction = level_fraction(row.kernel, settings.level);
  if (fraction === null) return null;
  return {
    row,
    fraction,
    share: Math.min(1, Math.max(0, row.kernel.time_share ?? 0)),
    position: row.kernel.position,
    unknown: row.kernel.flops === null || row.kernel.flops_bound === "lower",
  };
}

// ---------------------------------------------------------------- ranges

class Extent {
  low = Infinity;
  high = -Infinity;
  add(value: number | null): void {
    if (value === null || !Number.isFinite(value)) return;
    this.low = Math.min(this.low, value);
    this.high = Math.max(this.high, value);
  }
  or(low: number, high: number): Range {
    return this.high >= this.low ? { low: this.low, high: this.high } : { low, high };
  }
}

const kMargin = Math.log10(2.2); // around the data

// Every mark, ridge and flat roof lies inside, with room for the slope.
export function home_view(marks: readonly Mark[], roofs: readonly RoofLine[], ridges: readonly Ridge[]): View {
  const xs = new Extent();
  const ys = new Extent();
  for (const m of marks) {
    xs.add(m.x);
    ys.add(m.y);
    if (m.row.kernel.look) ys.add(m.roof_y);
  }
  for (const r of ridges) xs.add(r.x);
  for (const r of roofs) if (r.kind === "compute") ys.add(Math.log10(r.value));
  const x = xs.or(-1, 2);
  const y = ys.or(9, 13);
  return {
    x: { low: Math.min(x.low - kMargin, x.high - 2.5), high: x.high + kMargin + 0.3 },
    y: { low: Math.min(y.low - kMargin, y.high - 2.2), high: y.high + kMargin },
  };
}

export interface RoofSpan {
  from: { x: number; y: number };
  to: { x: number; y: number };
}

// The part of a roof that is drawn, in log10: memory roofs end at the highest flat roof of their role, flat roofs begin
// at the fastest memory roof.
export function roof_span(roof: RoofLine, roofs: readonly RoofLine[], view: View): RoofSpan | null {
  const peers = roofs.filter((r) => r.role === roof.role && r.kind !== roof.kind).map((r) => Math.log10(r.value));
  const top = peers.length > 0 ? Math.max(...peers) : null;
  const value = Math.log10(roof.value);
  if (roof.kind === "compute") {
    const begin = Math.max(view.x.low, top === null ? view.x.low : value - top);
    if (begin >= view.x.high || value < view.y.low || value > view.y.high) return null;
    return { from: { x: begin, y: value }, to: { x: view.x.high, y: value } };
  }
  const from = Math.max(view.x.low, view.y.low - value);
  const to = Math.min(view.x.high, Math.min(view.y.high, top ?? view.y.high) - value);
  if (from >= to) return null;
  return { from: { x: from, y: from + value }, to: { x: to, y: to + value } };
}

// ---------------------------------------------------------------- all of it

// `all` decides about roofs and ranges, so that these stay while someone filters; `shown` are the marks.
export function chart_model(report: Report, all: readonly Row[], shown: readonly Row[], settings: ChartSettings): ChartModel {
  const { main, ceiling, lines } = roofs_of(report, all, settings);
  const ridges = ridges_of(lines, settings.level);
  const visible = new Set(shown);
  const every: Mark[] = [];
  const marks: Mark[] = [];
  const strip: StripMark[] = [];
  const hidden = { rows: 0, share: 0 };
  let strip_high = 1;
  for (const row of [...all].sort((a, b) => a.number - b.number)) {
    const mark = placed_mark(row, settings);
    if (mark) every.push(mark);
    const beside = mark ? null : strip_mark(row, settings);
    if (beside) strip_high = Math.max(strip_high, beside.fraction);
    if (!visible.has(row)) continue;
    if (mark) marks.push(mark);
    else if (beside) strip.push(beside);
    else {
      hidden.rows += 1;
      hidden.share += row.kernel.time_share ?? 0;
    }
  }
  const home = home_view(every, lines, ridges);
  return { marks, strip, roofs: lines, ridges, home, strip_high, hidden, machine: main, ceiling };
}

export function ceiling_text(ceiling: Ceiling): string {
  const clock = ceiling.clock_hz === null ? "" : ` (SM ${si(ceiling.clock_hz, "Hz")})`;
  if (ceiling.kind === "at-clock") return `roof at the clock of the run${clock}`;
  return `${ceiling.kind} roof${clock}`;
}

// One line of numbers for people.
export function facts_of(kernel: Kernel, settings: ChartSettings): string {
  const parts: string[] = [];
  const more = kernel.flops_bound === "lower" ? "≥ " : "";
  if (kernel.flops !== null) parts.push(`${more}${si(kernel.flops, "FLOP")}`);
  const bytes = kernel.bytes[settings.level];
  if (bytes.total !== null) parts.push(`${kLevelNames[settings.level]} ${si(bytes.total, "B")}`);
  const intensity = intensity_at(kernel, settings.level);
  if (intensity !== null && intensity > 0) parts.push(`${more}${ratio(intensity)} FLOP/B`);
  if (kernel.flops !== null && kernel.flops > 0 && kernel.time_s !== null && kernel.time_s > 0)
    parts.push(`${more}${si(kernel.flops / kernel.time_s, "F/s")}`);
  const fraction = fraction_under(kernel, settings.ceiling);
  if (fraction.value !== null)
    parts.push(`${fraction.bound === "lower" ? "≥ " : ""}${percent(fraction.value)} of the ${fraction.binding ?? ""} roof`);
  if (kernel.time_s !== null) parts.push(`${si(kernel.time_s, "s")} (${share(kernel.time_share ?? 0)})`);
  parts.push(kernel.position);
  return parts.join(" · ");
}

export function hidden_text(model: ChartModel, settings: ChartSettings): string {
  if (model.hidden.rows === 0) return "";
  const lack =
    settings.precision !== null
      ? `without counted ${settings.precision} operations, bytes or time`
      : `without the time, ${kLevelNames[settings.level]} bytes or percentages that a place needs`;
  return `Not in the chart: ${counted(model.hidden.rows, "kernel")}, ${share(model.hidden.share)} of the time, ${lack}.`;
}
