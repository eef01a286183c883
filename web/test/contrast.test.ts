// Text against what lies behind it: 4.5 to 1, and 3 to 1 for lines that carry meaning, in both themes (WCAG 2.2, 1.4.3 and
// 1.4.11).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ink_of, type Theme } from "../src/palette";

const sheet = readFileSync(new URL("../src/style.css", import.meta.url), "utf8");

function variables(theme: Theme): Map<string, string> {
  const read = (selector: string) => {
    const block = new RegExp(`${selector}\\s*\\{([^}]*)\\}`).exec(sheet)?.[1] ?? "";
    return [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((m) => [m[1]!, m[2]!] as const);
  };
  return new Map([...read(":root"), ...(theme === "dark" ? read('\\[data-theme="dark"\\]') : [])]);
}

// WCAG's relative luminance of "#rrggbb".
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

describe.each(["light", "dark"] as const)("in the %s theme", (theme) => {
  const colours = variables(theme);
  const of = (name: string) => colours.get(name) ?? expect.fail(`no --${name}`);
  it("text stands out from every background it has", () => {
    for (const text of ["text", "faint"])
      for (const behind of ["paper", "raised", "chosen", "warn"])
        expect(contrast(of(text), of(behind)), `${text} on ${behind}`).toBeGreaterThanOrEqual(4.5);
    for (const behind of ["paper", "raised", "chosen"])
      expect(contrast(of("accent"), of(behind)), `accent on ${behind}`).toBeGreaterThanOrEqual(4.5);
    expect(contrast(of("error"), of("paper")), "error").toBeGreaterThanOrEqual(4.5);
  });
  it("the focus stands out", () => {
    for (const behind of ["paper", "raised", "chosen"]) expect(contrast(of("accent"), of(behind))).toBeGreaterThanOrEqual(3);
  });
  it("so do the texts and lines of the chart", () => {
    const ink = ink_of(theme);
    for (const text of [ink.text, ink.faint]) expect(contrast(text, ink.paper)).toBeGreaterThanOrEqual(4.5);
    for (const name of ["roof", "cache", "sheet", "other", "ridge", "gain", "selected", "frame"] as const)
      expect(contrast(ink[name], ink.paper), name).toBeGreaterThanOrEqual(3);
    expect(ink.paper).toBe(of("paper"));
  });
  it("knows a failing pair", () => {
    expect(contrast("#ffffff", "#000000")).toBeCloseTo(21, 5);
    expect(contrast("#999999", "#ffffff")).toBeLessThan(3);
  });
});
