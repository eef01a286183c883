// Reads the JSON contract (schema/report-1.json). What it does not know it ignores; what is missing or of another type
// becomes null, so that the rest of the page meets one shape only.

export type Bound = "exact" | "lower" | "upper";
export const kLevels = ["dram", "l2", "l1", "shared"] as const;
export type Level = (typeof kLevels)[number];

export const kPositions = [
  "memory-optimal",
  "memory-suboptimal",
  "compute-optimal",
  "compute-suboptimal",
  "latency-bound",
  "communication-bound",
  "unplaced",
] as const;
export type Position = (typeof kPositions)[number];

export interface Traffic {
  read: number | null; // bytes
  write: number | null;
  total: number | null;
  definition: string | null;
  bound: Bound;
}

export interface Resource {
  name: string;
  time_s: number | null;
  fraction: number | null;
  bound: Bound;
  definition: string;
  regime: string | null;
  required: boolean;
  peak: number | null; // ops/s or bytes/s
}

export interface Roof {
  ceiling: string | null;
  time_s: number | null;
  fraction: number | null;
  fraction_upper: number | null;
  bound: Bound;
  binding: string | null;
  regime: string | null;
  resources: Resource[];
}

export interface Kernel {
  id: number;
  input: number;
  machine: number | null;
  name: string; // short
  full_name: string; // hostile text of any length
  operator: string | null;
  nvtx: string[];
  grid: number[] | null;
  block: number[] | null;
  launches: number | null;
  time_s: number | null;
  time_share: number | null;
  time_basis: string | null;
  flops: number | null;
  flops_bound: Bound;
  flops_reason: string | null;
  by_precision: Map<string, number>;
  bytes: Record<Level, Traffic>;
  roof: Roof;
  datasheet: Roof | null;
  limiter: string | null;
  position: Position;
  reason: string | null;
  cache_resident: boolean;
  look: boolean;
  gain_s: number | null;
  gain_less_work_s: number | null;
  tier: string | null;
  raw: Fields; // the rest, read when someone opens the drawer
}

export interface Ceiling {
  kind: string;
  clock_hz: number | null;
  memory_clock_hz: number | null;
  peaks: { precision: string; ops_per_s: number; source: string | null }[];
  bandwidths: { level: Level; definition: string; bytes_per_s: number; source: string | null }[];
}

export interface Machine {
  id: number;
  name: string;
  compute_capability: string | null;
  sm_count: number | null;
  ceilings: Ceiling[];
}

export interface Input {
  path: string;
  format: string;
  producer: string | null;
}

export interface Warning {
  code: string;
  message: string;
  kernel: number | null;
}

export interface Finding {
  id: string;
  kind: string;
  title: string;
  why: string;
  action: string;
  next: string | null;
  condition: string | null;
  source: string | null;
  gain_s: number | null;
  gain_list: string | null;
  evidence: { metric: string; value: number | null; unit: string }[];
}

export interface Missing {
  quantity: string;
  reason: string;
  collect: string | null;
}

export interface Evidence {
  quantity: string;
  kind: string;
  recipe: string | null;
  metrics: string[];
  note: string | null;
}

export interface Total {
  time_s: number | null;
  flops: number | null;
  dram_bytes: number | null;
  fraction: number | null;
  fraction_upper: number | null;
  bound: Bound;
  placed_time_share: number | null;
  step_fraction: number | null;
  ceiling: string | null;
}

export interface Report {
  version: string | null;
  thresholds: Map<string, number>;
  inputs: Input[];
  machines: Machine[];
  kernels: Kernel[];
  total: Total;
  warnings: Warning[];
  findings: Finding[];
  failed_launches: number;
}

export type Fields = { readonly [key: string]: unknown };

export class ReportError extends Error {}

// ---------------------------------------------------------------- plain values

const kNothing: Fields = Object.freeze({});

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : kNothing;
}
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
export function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
export function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
export function texts(value: unknown): string[] {
  return list(value).filter((v): v is string => typeof v === "string");
}
function numbers(value: unknown): number[] | null {
  const all = list(value).map(number);
  return all.length > 0 && all.every((v): v is number => v !== null) ? all : null;
}
function bound(value: unknown): Bound {
  return value === "lower" || value === "upper" ? value : "exact";
}
function number_map(value: unknown): Map<string, number> {
  const out = new Map<string, number>();
  for (const [key, v] of Object.entries(fields(value))) {
    const n = number(v);
    if (n !== null) out.set(key, n);
  }
  return out;
}
function is_level(value: unknown): value is Level {
  return (kLevels as readonly unknown[]).includes(value);
}

// ---------------------------------------------------------------- parts

function traffic(value: unknown): Traffic {
  const f = fields(value);
  return {
    read: number(f.read),
    write: number(f.write),
    total: number(f.total),
    definition: text(f.definition),
    bound: bound(f.bound),
  };
}

function resource(value: unknown): Resource {
  const f = fields(value);
  return {
    name: text(f.name) ?? "",
    time_s: number(f.time_s),
    fraction: number(f.fraction),
    bound: bound(f.bound),
    definition: text(f.definition) ?? "",
    regime: text(f.regime),
    required: f.required === true,
    peak: number(f.peak),
  };
}

// What a kernel and the whole report have in common.
function achieved(f: Fields) {
  return {
    ceiling: text(f.ceiling),
    time_s: number(f.time_s),
    fraction: number(f.fraction),
    fraction_upper: number(f.fraction_upper),
    bound: bound(f.bound),
  };
}

function roof(value: unknown): Roof {
  const f = fields(value);
  return {
    ...achieved(f),
    binding: text(f.binding),
    regime: text(f.regime),
    resources: list(f.resources).map(resource),
  };
}

function position(value: unknown): Position {
  return (kPositions as readonly unknown[]).includes(value) ? (value as Position) : "unplaced";
}

function kernel(value: unknown, index: number): Kernel {
  const f = fields(value);
  const flops = fields(f.flops);
  const bytes = fields(f.bytes);
  const full = text(f.full_name);
  return {
    id: number(f.id) ?? index,
    input: number(f.input) ?? 0,
    machine: number(f.machine),
    name: text(f.name) ?? full ?? `kernel ${index}`,
    full_name: full ?? text(f.name) ?? "",
    operator: text(f.operator),
    nvtx: texts(f.nvtx),
    grid: numbers(f.grid),
    block: numbers(f.block),
    launches: number(f.launches),
    time_s: number(f.time_s),
    time_share: number(f.time_share),
    time_basis: text(f.time_basis),
    flops: number(flops.total),
    flops_bound: bound(flops.bound),
    flops_reason: text(flops.reason),
    by_precision: number_map(flops.by_precision),
    bytes: { dram: traffic(bytes.dram), l2: traffic(bytes.l2), l1: traffic(bytes.l1), shared: traffic(bytes.shared) },
    roof: roof(f.roof),
    datasheet: f.roof_datasheet === null || f.roof_datasheet === undefined ? null : roof(f.roof_datasheet),
    limiter: text(f.limiter),
    position: position(f.position),
    reason: text(f.reason),
    cache_resident: f.cache_resident === true,
    look: f.look === true,
    gain_s: number(f.gain_s),
    gain_less_work_s: number(f.gain_less_work_s),
    tier: text(f.tier),
    raw: f,
  };
}

function ceiling(value: unknown): Ceiling {
  const f = fields(value);
  const peaks: Ceiling["peaks"] = [];
  for (const p of list(f.peaks).map(fields)) {
    const precision = text(p.precision);
    const ops = number(p.ops_per_s);
    if (precision !== null && ops !== null && ops > 0) peaks.push({ precision, ops_per_s: ops, source: text(p.source) });
  }
  const bandwidths: Ceiling["bandwidths"] = [];
  for (const b of list(f.bandwidths).map(fields)) {
    const rate = number(b.bytes_per_s);
    if (is_level(b.level) && rate !== null && rate > 0)
      bandwidths.push({
        level: b.level,
        definition: text(b.definition) ?? "",
        bytes_per_s: rate,
        source: text(b.source),
      });
  }
  return {
    kind: text(f.kind) ?? "",
    clock_hz: number(f.clock_hz),
    memory_clock_hz: number(f.memory_clock_hz),
    peaks,
    bandwidths,
  };
}

function machine(value: unknown, index: number): Machine {
  const f = fields(value);
  return {
    id: number(f.id) ?? index,
    name: text(f.name) ?? text(f.chip) ?? "unknown machine",
    compute_capability: text(f.compute_capability),
    sm_count: number(f.sm_count),
    ceilings: list(f.ceilings).map(ceiling),
  };
}

function total(value: unknown): Total {
  const f = fields(value);
  return {
    ...achieved(f),
    flops: number(f.flops),
    dram_bytes: number(f.dram_bytes),
    placed_time_share: number(f.placed_time_share),
    step_fraction: number(f.step_fraction),
  };
}

function input(value: unknown): Input {
  const f = fields(value);
  return { path: text(f.path) ?? "", format: text(f.format) ?? "", producer: text(f.producer) };
}

function warning(value: unknown): Warning {
  const f = fields(value);
  return { code: text(f.code) ?? "", message: text(f.message) ?? "", kernel: number(f.kernel) };
}

function finding(value: unknown): Finding {
  const f = fields(value);
  return {
    id: text(f.id) ?? "",
    kind: text(f.kind) ?? "",
    title: text(f.title) ?? text(f.id) ?? "",
    why: text(f.why) ?? "",
    action: text(f.action) ?? "",
    next: text(f.next),
    condition: text(f.condition),
    source: text(f.source),
    gain_s: number(f.gain_s),
    gain_list: text(f.gain_list),
    evidence: list(f.evidence)
      .map(fields)
      .map((e) => ({ metric: text(e.metric) ?? "", value: number(e.value), unit: text(e.unit) ?? "" })),
  };
}

// ---------------------------------------------------------------- what only the drawer shows

export function findings_of(kernel: Kernel): Finding[] {
  return list(kernel.raw.findings).map(finding);
}

export function missing_of(kernel: Kernel): Missing[] {
  return list(kernel.raw.missing)
    .map(fields)
    .map((m) => ({ quantity: text(m.quantity) ?? "", reason: text(m.reason) ?? "", collect: text(m.collect) }));
}

export function evidence_of(kernel: Kernel): Evidence[] {
  return Object.entries(fields(kernel.raw.evidence)).map(([quantity, value]) => {
    const e = fields(value);
    return {
      quantity,
      kind: text(e.kind) ?? "absent",
      recipe: text(e.recipe),
      metrics: texts(e.metrics),
      note: text(e.note),
    };
  });
}

// Why a quantity ("time", "flops", "dram", "l2", …) is not known.
export function why_absent(kernel: Kernel, quantity: string): string {
  const missing = missing_of(kernel).find((m) => m.quantity === quantity);
  if (missing && missing.reason !== "") return missing.reason;
  const evidence = evidence_of(kernel).find((e) => e.quantity === quantity);
  if (evidence?.note) return evidence.note;
  if (quantity === "flops" && kernel.flops_reason) return kernel.flops_reason;
  return "not in the input";
}

// ---------------------------------------------------------------- the whole

export function read_report(json: string): Report {
  if (json.trim() === "") throw new ReportError("This page holds no report. `roofline report FILE -o report.html` writes one.");
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new ReportError(`The report in this page is not valid JSON: ${String(error)}`);
  }
  const f = fields(value);
  if (f.schema !== "roofline/report/1")
    throw new ReportError(`This page reads roofline/report/1; it holds ${text(f.schema) ?? "something else"}.`);
  return {
    version: text(fields(f.tool).version),
    thresholds: number_map(fields(f.options).thresholds),
    inputs: list(f.inputs).map(input),
    machines: list(f.machines).map(machine),
    kernels: list(f.kernels).map(kernel),
    total: total(f.total),
    warnings: list(f.warnings).map(warning),
    findings: list(f.findings).map(finding),
    failed_launches: number(f.failed_launches) ?? 0,
  };
}
