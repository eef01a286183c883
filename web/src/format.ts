// Numbers and names as people read them: the same figures as in the terminal.

export const kAbsent = "–";

const kPrefixes = ["f", "p", "n", "µ", "m", "", "k", "M", "G", "T", "P", "E", "Z", "Y"];
const kLowestPrefix = -5;

// Three significant digits and an SI prefix: "1.23 GB", "45.6 µs". Rounding comes first: 999.9 k is 1.00 M.
export function si(value: number, unit: string): string {
  if (!Number.isFinite(value)) return kAbsent;
  if (value === 0) return unit === "" ? "0" : `0 ${unit}`;
  const [mantissa = "0", power = "0"] = value.toExponential(2).split("e");
  const exponent = Number(power);
  const group = Math.floor(exponent / 3);
  const prefix = kPrefixes[group - kLowestPrefix];
  if (prefix === undefined) return `${value.toExponential(2)} ${unit}`.trim();
  if (group === 0 && Number.isInteger(value)) return `${value} ${unit}`.trim();
  const shift = exponent - 3 * group;
  return `${(Number(mantissa) * 10 ** shift).toFixed(2 - shift)} ${prefix}${unit}`.trim();
}

// Never "0%" for something.
export function percent(fraction: number): string {
  const p = 100 * fraction;
  if (p === 0) return "0%";
  if (p < 0.005) return "<0.01%";
  if (p < 0.095) return `${p.toFixed(2)}%`;
  return `${p.toFixed(p < 9.95 ? 1 : 0)}%`;
}

// Of a whole, one decimal.
export function share(fraction: number): string {
  const p = 100 * fraction;
  if (p === 0) return "0%";
  if (p < 0.05) return "<0.1%";
  return `${p.toFixed(p >= 99.95 ? 0 : 1)}%`;
}

// Three significant digits.
export function ratio(value: number): string {
  if (value === 0) return "0";
  if (Math.abs(value) < 0.01 || Math.abs(value) >= 1e6) return value.toExponential(2);
  const exponent = Number(value.toExponential(2).split("e")[1]);
  return value.toFixed(Math.max(0, 2 - exponent));
}

export function count(value: number): string {
  return Number.isInteger(value) ? String(value) : ratio(value);
}

export function counted(n: number, singular: string): string {
  return `${n} ${singular}${n === 1 ? "" : "s"}`;
}

// Characters that are invisible, turn the direction of the text around them or may not stand in XML; lone surrogates.
const kUnprintable =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// Text from a file, fit to be shown in one line.
export function printable(value: string): string {
  return value.replace(kUnprintable, (c) => (c === "\n" || c === "\t" || c === "\r" ? " " : "\ufffd"));
}

// Cuts the middle, where names of templates are least telling.
export function cut_middle(value: string, most: number): string {
  const letters = value.length > 4 * most ? [...value.slice(0, 2 * most), ...value.slice(-2 * most)] : [...value];
  if (letters.length <= most) return letters.join("");
  const tail = Math.floor((most - 1) / 3);
  return `${letters.slice(0, most - 1 - tail).join("")}…${tail > 0 ? letters.slice(-tail).join("") : ""}`;
}

export function dimensions(value: readonly number[] | null): string {
  if (value === null) return kAbsent;
  const used = [...value];
  while (used.length > 1 && used[used.length - 1] === 1) used.pop();
  return used.join("×");
}

export function words(key: string): string {
  return key.replaceAll("_", " ");
}
