// What the table and the chart show of a kernel: numbers to sort by, with what is missing kept apart from zero.
import { dimensions, printable } from "./format";
import type { Bound, Kernel, Level, Position, Report } from "./report";

export interface Row {
  kernel: Kernel;
  number: number; // 1 has the most time
  name: string; // one printable line
  grid: string; // where another kernel has the same name; else empty
  label: string; // both
  search: string; // lower case
}

// Which roofs fractions are compared with.
export type CeilingChoice = string; // a kind of ceiling; the one in use is that of the report

export interface Fraction {
  value: number | null;
  bound: Bound;
  upper: number | null;
  binding: string | null;
  why: string; // where there is no value
}

const kLongestSearch = 20000; // characters of a name that the search looks at

export function rows_of(report: Report): Row[] {
  const order = report.kernels.map((_, i) => i);
  const time = (i: number) => report.kernels[i]?.time_s ?? -1;
  order.sort((a, b) => time(b) - time(a) || a - b);
  const rank = new Array<number>(order.length);
  order.forEach((index, n) => (rank[index] = n + 1));
  const names = names_of(report.kernels);
  return report.kernels.map((kernel, i) => ({
    kernel,
    number: rank[i] ?? i + 1,
    ...(names[i] ?? { name: "", grid: "", label: "" }),
    search: [kernel.name, kernel.full_name.slice(0, kLongestSearch), kernel.operator ?? "", ...kernel.nvtx]
      .join("\n")
      .toLowerCase(),
  }));
}

// Where kernels share a name, their grids tell them apart.
function names_of(kernels: readonly Kernel[]): Pick<Row, "name" | "grid" | "label">[] {
  const names = kernels.map((k) => printable(k.operator !== null && k.operator !== k.name ? `${k.operator}: ${k.name}` : k.name));
  const times = new Map<string, number>();
  for (const name of names) times.set(name, (times.get(name) ?? 0) + 1);
  return kernels.map((kernel, i) => {
    const name = names[i] ?? "";
    const grid = kernel.grid !== null && (times.get(name) ?? 0) > 1 ? dimensions(kernel.grid) : "";
    return { name, grid, label: grid === "" ? name : `${name} ${grid}` };
  });
}

// Under the ceiling that the report was made with, or under the datasheet's; of others a report holds the roofs only.
export function fraction_under(kernel: Kernel, ceiling: CeilingChoice): Fraction {
  const used = kernel.roof.ceiling ?? "datasheet";
  const roof = ceiling === used ? kernel.roof : ceiling === "datasheet" ? kernel.datasheet : null;
  if (roof === null)
    return {
      value: null,
      bound: "exact",
      upper: null,
      binding: null,
      why: `the report holds no fraction under the ${ceiling} roofs; run again with --ceiling ${ceiling}`,
    };
  const why = kernel.cache_resident
    ? "cache-resident: the data stays in a cache, so there is no fraction of the DRAM roof"
    : (kernel.reason ?? "not placed");
  return { value: roof.fraction, bound: roof.bound, upper: roof.fraction_upper, binding: roof.binding, why };
}

export function intensity_at(kernel: Kernel, level: Level): number | null {
  const bytes = kernel.bytes[level].total;
  return kernel.flops === null || bytes === null || bytes <= 0 ? null : kernel.flops / bytes;
}

export function rate_of(kernel: Kernel): number | null {
  return kernel.flops === null || kernel.time_s === null || kernel.time_s <= 0 ? null : kernel.flops / kernel.time_s;
}

// Busiest resource of a memory level, as placed: its share of that level's peak.
export function level_fraction(kernel: Kernel, level: Level): number | null {
  return kernel.roof.resources.find((r) => r.name === level)?.fraction ?? null;
}

// ---------------------------------------------------------------- filter

export interface Filter {
  query: string;
  positions: ReadonlySet<Position>; // empty: all
  least_share: number;
  look_only: boolean;
  machine: number | null; // id; null: all
}

export const kNoFilter: Filter = {
  query: "",
  positions: new Set(),
  least_share: 0,
  look_only: false,
  machine: null,
};

// Words that must all occur, in any order; /…/ is a regular expression.
export function matcher(query: string): { test: (row: Row) => boolean; error: string | null } {
  const trimmed = query.trim();
  const expression = /^\/(.+)\/$/.exec(trimmed)?.[1];
  if (expression !== undefined) {
    try {
      const re = new RegExp(expression, "i");
      return { test: (row) => re.test(row.kernel.full_name) || re.test(row.label), error: null };
    } catch (error) {
      return { test: () => true, error: error instanceof Error ? error.message : String(error) };
    }
  }
  const words = trimmed.toLowerCase().split(/\s+/).filter((w) => w !== "");
  return { test: (row) => words.every((w) => row.search.includes(w)), error: null };
}

export function filtered(rows: readonly Row[], filter: Filter): Row[] {
  const { test } = matcher(filter.query);
  return rows.filter(
    (row) =>
      (filter.positions.size === 0 || filter.positions.has(row.kernel.position)) &&
      (filter.least_share <= 0 || (row.kernel.time_share ?? 0) >= filter.least_share) &&
      (!filter.look_only || row.kernel.look) &&
      (filter.machine === null || row.kernel.machine === filter.machine) &&
      test(row),
  );
}

// ---------------------------------------------------------------- order

export type Value = number | string | null;

// What is not known comes last in both directions.
export function sorted(rows: readonly Row[], value: (row: Row) => Value, descending: boolean): Row[] {
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, value: value(row) }));
  keyed.sort((a, b) => {
    if (a.value === null || b.value === null)
      return a.value === b.value ? a.row.number - b.row.number : a.value === null ? 1 : -1;
    const order =
      typeof a.value === "string" || typeof b.value === "string"
        ? compare_text(String(a.value), String(b.value))
        : a.value - b.value;
    return sign * order || a.row.number - b.row.number;
  });
  return keyed.map((k) => k.row);
}

// Plain code order, ignoring case: locale rules are slow over thousands of long names.
function compare_text(a: string, b: string): number {
  const x = a.toLowerCase();
  const y = b.toLowerCase();
  return x < y ? -1 : x > y ? 1 : 0;
}
