import { describe, expect, it } from "vitest";
import { evidence_of, findings_of, missing_of, read_report, ReportError, why_absent } from "../src/report";
import { synthetic } from "./synthetic";

const read = (value: unknown) => read_report(JSON.stringify(value));

describe("reading the contract", () => {
  it("keeps what is null apart from zero", () => {
    const report = read(synthetic({ kernels: 60 }));
    const unknown = report.kernels.find((k) => k.position === "unplaced");
    expect(unknown?.flops).toBeNull();
    expect(unknown?.roof.fraction).toBeNull();
    const none = report.kernels[4];
    expect(none?.flops).toBe(0);
    expect(why_absent(unknown!, "flops")).toBe("no operation counters were collected");
    expect(why_absent(unknown!, "l1")).toBe("not collected");
  });
  it("ignores fields that it does not know", () => {
    const value = synthetic({ kernels: 1 });
    value.later = { more: [1, 2] };
    (value.kernels as { [key: string]: unknown }[])[0]!.colour = "blue";
    expect(read(value).kernels).toHaveLength(1);
  });
  it("survives missing and wrong fields", () => {
    const report = read({ schema: "roofline/report/1", kernels: [{}, { name: 5, bytes: "x", roof: [] }, null], machines: [{}], total: 3 });
    expect(report.kernels).toHaveLength(3);
    expect(report.kernels[0]?.position).toBe("unplaced");
    expect(report.kernels[1]?.flops).toBeNull();
    expect(report.total.fraction).toBeNull();
    for (const k of report.kernels) {
      expect(findings_of(k)).toEqual([]);
      expect(missing_of(k)).toEqual([]);
      expect(evidence_of(k)).toEqual([]);
    }
  });
  it("refuses what is no report, in one sentence", () => {
    expect(() => read_report("")).toThrow(ReportError);
    expect(() => read_report("{")).toThrow(/not valid JSON/);
    expect(() => read({ schema: "roofline/report/2" })).toThrow(/roofline\/report\/1/);
  });
});
