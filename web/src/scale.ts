// Logarithmic axes: ranges in powers of ten, their ticks, and what zooming does to them.
import { si } from "./format";

export interface Range {
  low: number; // log10
  high: number;
}

export interface View {
  x: Range; // FLOP/byte
  y: Range; // FLOP/s
}

export function span(range: Range): number {
  return range.high - range.low;
}

export interface Tick {
  at: number; // log10
  label: string;
}

function decades(range: Range, most: number): number[] {
  const first = Math.ceil(range.low - 1e-9);
  const last = Math.floor(range.high + 1e-9);
  const step = Math.max(1, Math.ceil((last - first + 1) / most));
  const out: number[] = [];
  for (let e = Math.ceil(first / step) * step; e <= last; e += step) out.push(e);
  return out;
}

function multiples(range: Range, factors: readonly number[]): number[] {
  const out: number[] = [];
  for (let e = Math.floor(range.low); e <= Math.ceil(range.high); ++e)
    for (const f of factors) {
      const at = e + Math.log10(f);
      if (at >= range.low - 1e-9 && at <= range.high + 1e-9) out.push(at);
    }
  return out;
}

// Within one decade: 1, 2 or 5 times a power of ten apart.
function even_steps(range: Range, most: number): number[] {
  const low = 10 ** range.low;
  const high = 10 ** range.high;
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5, 10].find((f) => f * power >= raw) ?? 10);
  const out: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high && out.length <= most + 2; ++n) out.push(Math.log10(n * step));
  return out;
}

function tick_positions(range: Range, most: number): number[] {
  const wide = decades(range, most);
  if (span(range) >= 2 && wide.length >= 2) return wide;
  for (const factors of [
    [1, 2, 5],
    [1, 3],
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  ]) {
    const at = multiples(range, factors);
    if (at.length >= 3 && at.length <= most) return at;
  }
  return even_steps(range, most);
}

// As short as the value allows: "10 GF/s", "0.25". Without unit no prefix below a thousand.
export function tick_label(log: number, unit: string): string {
  const value = Number((10 ** log).toPrecision(4));
  if (unit === "" && value < 1000 && value >= 0.001) return String(value);
  const [number = "", suffix = ""] = si(value, unit).split(" ");
  return `${String(Number(number))} ${suffix}`.trim();
}

export function ticks(range: Range, unit: string, most: number): Tick[] {
  return tick_positions(range, most).map((at) => ({ at, label: tick_label(at, unit) }));
}

// Fine grid lines at 2 … 9 times the powers of ten, where they do not crowd.
export function fine_lines(range: Range): number[] {
  return span(range) > 7 ? [] : multiples(range, [2, 3, 4, 5, 6, 7, 8, 9]);
}

const kNarrowest = 0.05; // decades

// `factor` < 1 zooms in around `anchor` (0: low end, 1: high end); never past `limits`.
export function zoomed(range: Range, factor: number, anchor: number, limits: Range): Range {
  const width = Math.min(Math.max(span(range) * factor, kNarrowest), span(limits));
  const fixed = range.low + anchor * span(range);
  return within({ low: fixed - anchor * width, high: fixed + (1 - anchor) * width }, limits);
}

export function panned(range: Range, by: number, limits: Range): Range {
  const shift = by * span(range);
  return within({ low: range.low + shift, high: range.high + shift }, limits);
}

function within(range: Range, limits: Range): Range {
  const width = Math.min(span(range), span(limits));
  const low = Math.min(Math.max(range.low, limits.low), limits.high - width);
  return { low, high: low + width };
}

// A brushed stretch, from and to as shares of the range.
export function brushed(range: Range, from: number, to: number): Range {
  const low = range.low + Math.min(from, to) * span(range);
  const high = range.low + Math.max(from, to) * span(range);
  const short = Math.max(0, kNarrowest - (high - low)) / 2;
  return { low: low - short, high: high + short };
}

export function same(a: View, b: View): boolean {
  const near = (x: number, y: number) => Math.abs(x - y) < 1e-9;
  return near(a.x.low, b.x.low) && near(a.x.high, b.x.high) && near(a.y.low, b.y.low) && near(a.y.high, b.y.high);
}
