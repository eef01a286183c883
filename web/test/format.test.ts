import { describe, expect, it } from "vitest";
import { cut_middle, dimensions, percent, printable, ratio, share, si } from "../src/format";

describe("numbers read as in the terminal", () => {
  it("si rounds before it chooses the prefix", () => {
    expect(si(999_900, "B")).toBe("1.00 MB");
    expect(si(3.352e12, "B/s")).toBe("3.35 TB/s");
    expect(si(2.4e-6, "s")).toBe("2.40 µs");
    expect(si(0, "B")).toBe("0 B");
    expect(si(325, "")).toBe("325");
    expect(si(515e9, "")).toBe("515 G");
    expect(si(-0.0025, "s")).toBe("-2.50 ms");
    expect(si(1e40, "s")).toBe("1.00e+40 s");
    expect(si(Infinity, "s")).toBe("–");
  });
  it("percent is never 0 % for something", () => {
    expect(percent(0)).toBe("0%");
    expect(percent(0.00001)).toBe("<0.01%");
    expect(percent(0.0004)).toBe("0.04%");
    expect(percent(0.0321)).toBe("3.2%");
    expect(percent(0.7349)).toBe("73%");
    expect(percent(1.2)).toBe("120%");
  });
  it("share has one decimal", () => {
    expect(share(0.1234)).toBe("12.3%");
    expect(share(0.0004)).toBe("<0.1%");
    expect(share(1)).toBe("100%");
    expect(share(0)).toBe("0%");
  });
  it("ratio has three digits", () => {
    expect(ratio(31.66)).toBe("31.7");
    expect(ratio(295.4)).toBe("295");
    expect(ratio(0.62)).toBe("0.620");
    expect(ratio(0.0012)).toBe("1.20e-3");
  });
});

describe("text from files", () => {
  it("shows no control and no direction characters", () => {
    expect(printable("a\u202eb\u0000c\u2028d\u001b[31m")).toBe("a\ufffdb\ufffdc\ufffdd\ufffd[31m");
    expect(printable("a\nb\tc")).toBe("a b c");
    expect(printable("\ud800x")).toBe("\ufffdx");
    expect(printable("😀 ok")).toBe("😀 ok");
  });
  it("cuts the middle and never inside a character", () => {
    expect(cut_middle("short", 10)).toBe("short");
    expect(cut_middle("abcdefghijklmnop", 10)).toBe("abcdef…nop");
    expect([...cut_middle("😀".repeat(50), 9)].length).toBe(9);
    expect(cut_middle("x".repeat(100_000), 20).length).toBe(20);
  });
  it("leaves out trailing dimensions of 1", () => {
    expect(dimensions([132, 1, 1])).toBe("132");
    expect(dimensions([4, 1, 2])).toBe("4×1×2");
    expect(dimensions(null)).toBe("–");
  });
});
