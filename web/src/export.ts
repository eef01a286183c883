// The table as CSV (RFC 4180: raw SI values, empty where nothing is known) and files for the reader to keep.
import { el } from "./dom";
import { intensity_at, rate_of, type Row } from "./rows";
import type { Report } from "./report";

type Plain = string | number | boolean | null;

// Text that a spreadsheet would run as a formula gets an apostrophe in front.
export function csv_cell(value: Plain): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  if (typeof value === "boolean") return value ? "1" : "0";
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const kFields: readonly [string, (row: Row, report: Report) => Plain][] = [
  ["id", ({ kernel }) => kernel.id],
  ["input", ({ kernel }, report) => report.inputs[kernel.input]?.path ?? null],
  ["machine", ({ kernel }, report) => report.machines.find((m) => m.id === kernel.machine)?.name ?? null],
  ["operator", ({ kernel }) => kernel.operator],
  ["kernel", ({ kernel }) => kernel.name],
  ["full_name", ({ kernel }) => kernel.full_name],
  ["grid", ({ kernel }) => kernel.grid?.join("x") ?? null],
  ["block", ({ kernel }) => kernel.block?.join("x") ?? null],
  ["launches", ({ kernel }) => kernel.launches],
  ["time_s", ({ kernel }) => kernel.time_s],
  ["time_share", ({ kernel }) => kernel.time_share],
  ["time_basis", ({ kernel }) => kernel.time_basis],
  ["flops", ({ kernel }) => kernel.flops],
  ["flops_bound", ({ kernel }) => (kernel.flops === null ? null : kernel.flops_bound)],
  ["dram_bytes", ({ kernel }) => kernel.bytes.dram.total],
  ["l2_bytes", ({ kernel }) => kernel.bytes.l2.total],
  ["l1_bytes", ({ kernel }) => kernel.bytes.l1.total],
  ["shared_bytes", ({ kernel }) => kernel.bytes.shared.total],
  ["intensity_flop_per_byte", ({ kernel }) => intensity_at(kernel, "dram")],
  ["achieved_flops_per_s", ({ kernel }) => rate_of(kernel)],
  ["ceiling", ({ kernel }) => kernel.roof.ceiling],
  ["fraction_of_roof", ({ kernel }) => kernel.roof.fraction],
  ["fraction_bound", ({ kernel }) => (kernel.roof.fraction === null ? null : kernel.roof.bound)],
  ["fraction_upper", ({ kernel }) => kernel.roof.fraction_upper],
  ["roof", ({ kernel }) => kernel.roof.binding],
  ["fraction_of_datasheet_roof", ({ kernel }) => kernel.datasheet?.fraction ?? null],
  ["limiter", ({ kernel }) => kernel.limiter],
  ["position", ({ kernel }) => kernel.position],
  ["look", ({ kernel }) => kernel.look],
  ["gain_s", ({ kernel }) => kernel.gain_s],
  ["gain_less_work_s", ({ kernel }) => kernel.gain_less_work_s],
  ["tier", ({ kernel }) => kernel.tier],
];

export function csv(rows: readonly Row[], report: Report): string {
  const lines = [kFields.map(([key]) => key).join(",")];
  for (const row of rows) lines.push(kFields.map(([, value]) => csv_cell(value(row, report))).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = el("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// A file name made of what every system takes.
export function file_stem(report: Report): string {
  const path = report.inputs[0]?.path ?? "";
  const base = path.split(/[\\/]/).pop() ?? "";
  const stem = base.replace(/\.[A-Za-z0-9-]{1,10}$/, "").replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60);
  return stem.replace(/^[.-]+|[.-]+$/g, "") || "roofline";
}
