// Made-up reports in the shape of schema/report-1.json. Figures come from a fixed sequence, so that every run sees the
// same.

export interface SyntheticOptions {
  kernels: number;
  names?: readonly string[]; // full names; repeated where there are more kernels
  at_clock?: boolean;
}

type Json = { [key: string]: unknown };

// Park and Miller's generator: enough to spread points.
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

const kTensor = 9e14;
const kVector = 6e13;
const kDram = 3e12;
const kL2 = 9e12;

function ceiling(kind: string, factor: number): Json {
  const peaks = [
    { precision: "bf16.tensor", ops_per_s: kTensor * factor, clock_hz: 1.9e9 * factor, source: "made up" },
    { precision: "fp32.vector", ops_per_s: kVector * factor, clock_hz: 1.9e9 * factor, source: "made up" },
  ];
  return {
    kind,
    clock_hz: 1.9e9 * factor,
    sparsity: "dense",
    compute: Object.fromEntries(peaks.map((p) => [p.precision, p.ops_per_s])),
    memory: { dram: kDram, l2: kL2, l1: null, shared: null },
    link: {},
    memory_clock_hz: null,
    peaks,
    bandwidths: [
      { level: "dram", definition: "dram", bytes_per_s: kDram, source: "made up" },
      { level: "l2", definition: "lts2xbar", bytes_per_s: kL2 * factor, source: "made up" },
    ],
  };
}

const kNone = { read: null, write: null, total: null, definition: null, bound: null };
const kEvidence = { kind: "counter", recipe: "r", metrics: ["gpu__time_duration.sum"], note: null };
const kAbsent = { kind: "absent", recipe: null, metrics: [], note: "not collected" };

const kWords = ["gemm", "softmax", "norm", "rope", "copy", "scan", "reduce", "attention", "topk", "gather", "cast", "bias"];

function kernel(id: number, total: number, options: SyntheticOptions, next: () => number): Json {
  const position_roll = next();
  const time = 1e-6 * 10 ** (3 * next());
  const no_flops = id % 9 === 4;
  const lower = id % 11 === 5;
  const unknown = id % 23 === 7;
  const tensor = id % 3 === 0;
  const fraction = Math.min(0.98, 0.05 + 0.95 * next());
  const intensity = 10 ** (-1 + 3.6 * next());
  const peak = tensor ? kTensor : kVector;
  const roof_rate = Math.min(peak, intensity * kDram);
  const compute_binds = intensity * kDram > peak;
  const flops = unknown ? null : no_flops ? 0 : fraction * roof_rate * time;
  const dram = no_flops || unknown ? fraction * kDram * time : (flops ?? 0) / intensity;
  const l2 = dram * (1 + 2 * next());
  const regime = compute_binds && !no_flops && !unknown ? "compute" : "memory";
  const done = fraction >= 0.8 ? "optimal" : "suboptimal";
  const position = unknown ? "unplaced" : position_roll < 0.15 ? "latency-bound" : `${regime}-${done}`;
  const name = options.names?.[id % options.names.length] ?? `${kWords[id % kWords.length] ?? "k"}_kernel_${id}`;
  const precision = tensor ? "bf16.tensor" : "fp32.vector";
  const look = !unknown && done === "suboptimal" && id % 4 === 0;
  const placed = unknown ? null : fraction;
  return {
    id,
    input: 0,
    machine: 0,
    name: name.split("<")[0] || name,
    full_name: options.names ? name : `void ns::${name}<float, ${id % 7}>(float const*, float*, int)`,
    operator: null,
    grid: [1 + (id % 512), 1, 1],
    block: [256, 1, 1],
    device: 0,
    stream: 7,
    rank: null,
    nvtx: [],
    launch_ids: [id],
    launches: 1 + (id % 5),
    weight: 1,
    time_s: time,
    time_share: 1 / total,
    time_stats: { min: time, median: time, max: time },
    time_basis: "profiled-locked",
    clock_hz: 1.7e9,
    mixed: false,
    flops: {
      total: flops,
      by_precision: flops === null || flops === 0 ? {} : { [precision]: flops },
      aux: null,
      bound: flops === null ? null : lower ? "lower" : "exact",
      uncounted: lower ? ["fp16.tensor"] : [],
      assumed_none: [],
      reason: null,
      uncounted_fraction: null,
    },
    ops: {},
    bytes: {
      dram: { read: dram * 0.7, write: dram * 0.3, total: dram, definition: "dram", bound: "exact" },
      l2: { read: null, write: null, total: l2, definition: "lts2xbar", bound: "exact" },
      l1: kNone,
      shared: kNone,
      link: { kind: null, bus_bytes: null, algorithm_bytes: null },
    },
    intensity: { dram: flops === null ? null : flops / dram, l2: flops === null ? null : flops / l2, l1: null },
    reuse: { l1_per_dram: null, l2_per_dram: l2 / dram },
    achieved: { flops_per_s: flops === null ? null : flops / time, dram_bytes_per_s: dram / time },
    roof: {
      ceiling: options.at_clock ? "at-clock" : "datasheet",
      time_s: placed === null ? null : placed * time,
      fraction: placed,
      bound: lower ? "lower" : "exact",
      binding: placed === null ? null : regime === "compute" ? precision : "dram",
      regime: placed === null ? "unknown" : regime,
      resources: [
        { name: "dram", time_s: dram / kDram, fraction: dram / kDram / time, bound: "exact", definition: "dram", regime: "memory", required: true, peak: kDram },
        { name: "l2", time_s: l2 / kL2, fraction: l2 / kL2 / time, bound: "exact", definition: "lts2xbar", regime: "memory", required: false, peak: kL2 },
      ],
      fraction_upper: lower ? Math.min(1, fraction + 0.1) : null,
    },
    roof_datasheet: options.at_clock
      ? { time_s: 0.9 * fraction * time, fraction: 0.9 * fraction, binding: "dram", regime: "memory", bound: "exact" }
      : null,
    limiter: null,
    position,
    look,
    gain_s: placed === null ? null : time * (1 - fraction),
    gain_less_work_s: null,
    findings: look
      ? [
          {
            id: "few-warps",
            kind: "cause",
            evidence: [{ metric: "sm__warps_active.avg.pct_of_peak_sustained_active", value: 31.5, unit: "%" }],
            threshold: 0.5,
            action: "Use fewer registers.",
            gain_s: 0.3 * time,
            gain_list: "same-work",
            title: "Few warps fit on an SM",
            why: "at most 31 % of the warp slots can be filled",
            next: "Cap the registers and compare.",
            condition: "occupancy < 50 %",
            source: "made up",
          },
        ]
      : [],
    evidence: {
      time: kEvidence,
      flops: flops === null ? kAbsent : kEvidence,
      dram: kEvidence,
      l2: kEvidence,
      l1: kAbsent,
      shared: kAbsent,
      link: kAbsent,
    },
    missing: unknown ? [{ quantity: "flops", reason: "no operation counters were collected", collect: "ncu --set full -k NAME ./program" }] : [],
    tier: unknown ? "unplaced" : "counted",
    reason: unknown ? "FLOPs are not known" : null,
    cache_resident: false,
    failed_launches: 0,
    notes: [],
    activity: { sm_throughput: 0.42, waves: 1.5, busiest_unit: "lsu" },
  };
}

export function synthetic(options: SyntheticOptions): Json {
  const next = sequence(20240607);
  const kernels = Array.from({ length: options.kernels }, (_, id) => kernel(id, options.kernels, options, next));
  const time = kernels.reduce((sum, k) => sum + Number(k.time_s), 0);
  for (const k of kernels) k.time_share = Number(k.time_s) / time;
  const ceilings = [ceiling("datasheet", 1), ...(options.at_clock ? [ceiling("at-clock", 0.9)] : [])];
  return {
    schema: "roofline/report/1",
    tool: { name: "roofline", version: "0.0.0", catalogue_version: null },
    options: { thresholds: { optimal: 0.8, busy: 0.6 } },
    inputs: [{ id: 0, path: "made-up.ncu-rep", format: "ncu-rep", producer: "a test" }],
    machines: [
      { id: 0, name: "Test GPU 100", compute_capability: "9.0", sm_count: 100, ceilings, catalogue_id: null, vendor: null, chip: null, architecture: null },
    ],
    kernels,
    total: {
      time_s: time,
      flops: 1e12,
      dram_bytes: 1e11,
      roof_time_s: 0.612 * time,
      fraction: 0.612,
      bound: "lower",
      placed_time_share: 0.957,
      wall_s: null,
      step_fraction: null,
      ceiling: options.at_clock ? "at-clock" : "datasheet",
      placed_time_s: 0.957 * time,
      fraction_upper: 0.7,
      cache_resident_time_s: 0,
      other_ceiling_time_s: 0,
      share_by_tier: {},
      flops_bound: "lower",
      dram_bytes_bound: "exact",
    },
    warnings: [],
    failed_launches: 0,
    findings: [],
  };
}

// Names as an attacker, or only a C++ programmer, might choose them.
export const kHostile: readonly string[] = [
  '<img src=x onerror="window.broken=1">',
  "</script><script>window.broken=2</script>",
  "<!--<script>",
  "\"quotes\" 'and' `backticks` & &amp; ampersands",
  "=cmd|' /C calc'!A0",
  "@SUM(1+1)",
  `void gemm<${"std::pair<float, std::tuple<int, ".repeat(160)}${">>".repeat(160)}`,
  "right\u202eto left\u2066 and \u0007 bell \u001b[31m red \u0000 nul",
  "line\u2028separator\u2029paragraph",
  "javascript:alert(1)",
  "${7*7} {{7*7}} $& $1 \\u003c",
  "\ud800 lone surrogate",
];

// What the program does with the JSON: the same escapes as in src/page.
export function page_with(page: string, report: Json): string {
  const json = JSON.stringify(report).replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const element = '<script type="application/json" id="roofline-report">';
  if (!page.includes(element)) throw new Error("the page has no place for a report");
  return page.replace(element, () => element + json);
}
