// The columns of the kernel table: what they sort by, what they show, and why a cell is empty.
import { kLevelNames, type ChartSettings } from "./chart-model";
import { count, percent, ratio, share, si } from "./format";
import { why_absent } from "./report";
import { fraction_under, intensity_at, rate_of, type Row, type Value } from "./rows";

export interface CellText {
  text: string;
  title?: string;
  bar?: number; // 0..1
}
export type Cell = CellText | { absent: string };

export interface Column {
  key: string;
  title: (settings: ChartSettings) => string;
  hint: string;
  numeric: boolean;
  wide: boolean; // left out on narrow screens
  value: (row: Row, settings: ChartSettings) => Value;
  cell: (row: Row, settings: ChartSettings) => Cell;
}

const known = (value: number | null, why: () => string, show: (value: number) => CellText): Cell =>
  value === null ? { absent: why() } : show(value);
const more = (bound: string) => (bound === "lower" ? "≥ " : bound === "upper" ? "≤ " : "");

function flops_cell(row: Row, value: number | null, unit: string): Cell {
  const { kernel } = row;
  if (kernel.flops !== null && kernel.time_s === null && unit === "F/s") return { absent: why_absent(kernel, "time") };
  return known(value, () => why_absent(kernel, "flops"), (v) => ({ text: more(kernel.flops_bound) + si(v, unit) }));
}

function fraction_cell(row: Row, settings: ChartSettings): Cell {
  const f = fraction_under(row.kernel, settings.ceiling);
  return known(f.value, () => f.why, (v) => ({
    text: more(f.bound) + percent(v),
    bar: Math.min(1, v),
    ...(f.upper === null || f.bound !== "lower" ? {} : { title: `at most ${percent(f.upper)}` }),
  }));
}

function intensity_cell(row: Row, settings: ChartSettings): Cell {
  const { kernel } = row;
  const lacks = kernel.flops === null ? "flops" : settings.level;
  return known(intensity_at(kernel, settings.level), () => why_absent(kernel, lacks), (v) => ({
    text: more(kernel.flops_bound) + ratio(v),
  }));
}

export const kColumns: readonly Column[] = [
  {
    key: "number",
    title: () => "#",
    hint: "Rank by time",
    numeric: true,
    wide: true,
    value: (r) => r.number,
    cell: (r) => ({ text: String(r.number) }),
  },
  {
    key: "name",
    title: () => "Kernel",
    hint: "",
    numeric: false,
    wide: false,
    value: (r) => r.label,
    cell: (r) => ({ text: r.label }),
  },
  {
    key: "launches",
    title: () => "N",
    hint: "Launches",
    numeric: true,
    wide: true,
    value: (r) => r.kernel.launches,
    cell: (r) => known(r.kernel.launches, () => "not in the input", (v) => ({ text: count(v) })),
  },
  {
    key: "time",
    title: () => "Time",
    hint: "Sum over the launches",
    numeric: true,
    wide: true,
    value: (r) => r.kernel.time_s,
    cell: (r) => known(r.kernel.time_s, () => why_absent(r.kernel, "time"), (v) => ({ text: si(v, "s") })),
  },
  {
    key: "share",
    title: () => "Share",
    hint: "Share of the time of all kernels",
    numeric: true,
    wide: false,
    value: (r) => r.kernel.time_share,
    cell: (r) =>
      known(r.kernel.time_share, () => why_absent(r.kernel, "time"), (v) => ({ text: share(v), bar: Math.min(1, v) })),
  },
  {
    key: "flops",
    title: () => "FLOPs",
    hint: "Floating-point operations",
    numeric: true,
    wide: true,
    value: (r) => r.kernel.flops,
    cell: (r) => flops_cell(r, r.kernel.flops, ""),
  },
  {
    key: "bytes",
    title: (s) => `${s.level === "shared" ? "Shared" : kLevelNames[s.level]} bytes`,
    hint: "Traffic at the memory level chosen above",
    numeric: true,
    wide: true,
    value: (r, s) => r.kernel.bytes[s.level].total,
    cell: (r, s) =>
      known(r.kernel.bytes[s.level].total, () => why_absent(r.kernel, s.level), (v) => ({
        text: more(r.kernel.bytes[s.level].bound) + si(v, "B"),
      })),
  },
  {
    key: "intensity",
    title: () => "FLOP/B",
    hint: "Arithmetic intensity at the memory level chosen above",
    numeric: true,
    wide: true,
    value: (r, s) => intensity_at(r.kernel, s.level),
    cell: intensity_cell,
  },
  {
    key: "rate",
    title: () => "Achieved",
    hint: "FLOP per second",
    numeric: true,
    wide: true,
    value: (r) => rate_of(r.kernel),
    cell: (r) => flops_cell(r, rate_of(r.kernel), "F/s"),
  },
  {
    key: "fraction",
    title: () => "% of roof",
    hint: "Least time that the roof allows, divided by the time",
    numeric: true,
    wide: false,
    value: (r, s) => fraction_under(r.kernel, s.ceiling).value,
    cell: fraction_cell,
  },
  {
    key: "roof",
    title: () => "Roof",
    hint: "The resource that binds",
    numeric: false,
    wide: true,
    value: (r, s) => fraction_under(r.kernel, s.ceiling).binding,
    cell: (r, s) => {
      const f = fraction_under(r.kernel, s.ceiling);
      return f.binding === null ? { absent: f.why } : { text: f.binding };
    },
  },
  {
    key: "position",
    title: () => "Position",
    hint: "Where it stands and whether it is done",
    numeric: false,
    wide: false,
    value: (r) => r.kernel.position,
    cell: (r) => ({ text: r.kernel.position, ...(r.kernel.reason === null ? {} : { title: r.kernel.reason }) }),
  },
  {
    key: "gain",
    title: () => "Gain",
    hint: "Time that the same work, done at the roof, would save",
    numeric: true,
    wide: true,
    value: (r) => r.kernel.gain_s,
    cell: (r) => known(r.kernel.gain_s, () => r.kernel.reason ?? "not placed", (v) => ({ text: v === 0 ? "0" : si(v, "s") })),
  },
];

export function column_of(key: string): Column {
  const column = kColumns.find((c) => c.key === key);
  if (!column) throw new Error(`no column '${key}'`);
  return column;
}
