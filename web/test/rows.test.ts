import { describe, expect, it } from "vitest";
import { csv, csv_cell, file_stem } from "../src/export";
import { read_report } from "../src/report";
import { filtered, fraction_under, kNoFilter, matcher, rows_of, sorted } from "../src/rows";
import { kColumns } from "../src/columns";
import { window_of } from "../src/table";
import { kHostile, synthetic } from "./synthetic";

const report = read_report(JSON.stringify(synthetic({ kernels: 200, at_clock: true })));
const rows = rows_of(report);
const settings = { level: "dram", precision: null, ceiling: "at-clock" } as const;

describe("rows", () => {
  it("number 1 has the most time", () => {
    const most = Math.max(...report.kernels.map((k) => k.time_s ?? 0));
    expect(rows.find((r) => r.number === 1)?.kernel.time_s).toBe(most);
  });
  it("tell kernels of one name apart by their grids", () => {
    const twins = read_report(JSON.stringify(synthetic({ kernels: 2, names: ["same"] })));
    expect(rows_of(twins).map((r) => r.label)).toEqual(["same 1", "same 2"]);
  });
  it("name the operator where the kernel is called otherwise", () => {
    const value = synthetic({ kernels: 2, names: ["gemm", "rope"] });
    for (const k of value.kernels as { [key: string]: unknown }[]) k.operator = "rope";
    expect(rows_of(read_report(JSON.stringify(value))).map((r) => r.label)).toEqual(["rope: gemm", "rope"]);
  });
  it("fractions follow the ceiling, and say why there is none", () => {
    const k = rows.find((r) => r.kernel.roof.fraction !== null)!.kernel;
    expect(fraction_under(k, "at-clock").value).toBe(k.roof.fraction);
    expect(fraction_under(k, "datasheet").value).toBe(k.datasheet?.fraction);
    expect(fraction_under(k, "measured").value).toBeNull();
    expect(fraction_under(k, "measured").why).toContain("--ceiling measured");
  });
});

describe("filter", () => {
  it("finds all words in any order, without regard to case", () => {
    const found = filtered(rows, { ...kNoFilter, query: "FLOAT gemm_kernel" });
    expect(found.length).toBeGreaterThan(0);
    expect(found.every((r) => r.kernel.name.startsWith("gemm"))).toBe(true);
  });
  it("takes /…/ as an expression and reports a broken one", () => {
    expect(filtered(rows, { ...kNoFilter, query: "/^void ns::scan_kernel_\\d+</" }).every((r) => r.kernel.name.startsWith("scan"))).toBe(true);
    expect(matcher("/(/").error).not.toBeNull();
    expect(matcher("(").error).toBeNull();
  });
  it("combines position, share and look", () => {
    const found = filtered(rows, { ...kNoFilter, positions: new Set(["latency-bound"]), least_share: 0.005, look_only: true });
    expect(found.length).toBeGreaterThan(0);
    for (const { kernel } of found) {
      expect(kernel.position).toBe("latency-bound");
      expect(kernel.time_share).toBeGreaterThanOrEqual(0.005);
      expect(kernel.look).toBe(true);
    }
  });
});

describe("order", () => {
  const fraction = kColumns.find((c) => c.key === "fraction")!;
  it("puts what is not known last, both ways", () => {
    for (const descending of [true, false]) {
      const values = sorted(rows, (r) => fraction.value(r, settings), descending).map((r) => r.kernel.roof.fraction);
      const first_null = values.indexOf(null);
      expect(first_null).toBeGreaterThan(0);
      expect(values.slice(first_null).every((v) => v === null)).toBe(true);
      const numbers = values.slice(0, first_null) as number[];
      const right = [...numbers].sort((a, b) => (descending ? b - a : a - b));
      expect(numbers).toEqual(right);
    }
  });
  it("never shows an absent value as 0", () => {
    for (const row of rows)
      for (const column of kColumns) {
        const cell = column.cell(row, settings);
        const value = column.value(row, settings);
        if (value === null) expect("absent" in cell && cell.absent.length > 3, column.key).toBe(true);
        else expect("text" in cell, column.key).toBe(true);
      }
  });
});

describe("window", () => {
  it("holds what is in sight and little more", () => {
    const { first, last } = window_of(5000, 3300, 660);
    expect(first).toBeLessThanOrEqual(100);
    expect(last).toBeGreaterThanOrEqual(120);
    expect(last - first).toBeLessThan(50);
    expect(window_of(0, 0, 600)).toEqual({ first: 0, last: 0 });
    expect(window_of(3, 99999, 600).last).toBe(3);
  });
});

describe("csv", () => {
  it("defuses formulas and quotes what needs it", () => {
    expect(csv_cell("=1+1")).toBe("'=1+1");
    expect(csv_cell("+a")).toBe("'+a");
    expect(csv_cell("-a")).toBe("'-a");
    expect(csv_cell("@SUM(1)")).toBe("'@SUM(1)");
    expect(csv_cell('say "x", then\ny')).toBe('"say ""x"", then\ny"');
    expect(csv_cell(-1.5)).toBe("-1.5");
    expect(csv_cell(null)).toBe("");
  });
  it("has one record a row, as many cells in each, and no zero for null", () => {
    const hostile = read_report(JSON.stringify(synthetic({ kernels: 12, names: kHostile.filter((n) => !n.includes("\n")) })));
    const lines = csv(rows_of(hostile), hostile).trimEnd().split("\r\n");
    expect(lines).toHaveLength(13);
    const unquoted = (line: string) => line.replace(/"(?:[^"]|"")*"/g, "q").split(",");
    const head = unquoted(lines[0]!);
    for (const line of lines) expect(unquoted(line)).toHaveLength(head.length);
    const unknown = unquoted(lines[1 + 7]!);
    expect(unknown[head.indexOf("flops")]).toBe("");
  });
  it("names files by what any system takes", () => {
    expect(file_stem({ ...report, inputs: [{ path: "/tmp/../a b<c>.ncu-rep", format: "", producer: null }] })).toBe("a-b-c");
    expect(file_stem({ ...report, inputs: [] })).toBe("roofline");
  });
});
