import { describe, expect, it } from "vitest";
import { crosses, place_labels, type Segment } from "../src/chart-layout";
import { ceiling_in_use, chart_model, levels_of, peak_of, precisions_of, roof_span } from "../src/chart-model";
import { kShapes } from "../src/palette";
import { kPositions, read_report } from "../src/report";
import { rows_of } from "../src/rows";
import { brushed, fine_lines, panned, span, tick_label, ticks, zoomed } from "../src/scale";
import { synthetic } from "./synthetic";

const report = read_report(JSON.stringify(synthetic({ kernels: 120, at_clock: true })));
const rows = rows_of(report);
const settings = { level: "dram", precision: null, ceiling: "at-clock" } as const;
const model = chart_model(report, rows, rows, settings);

describe("axes", () => {
  it("ticks lie inside, are few, and are labelled with their value", () => {
    for (const [low, high] of [[-2, 4], [0.1, 0.9], [1, 1.06], [9, 16], [-0.301, 0.301]] as const) {
      const all = ticks({ low, high }, "F/s", 8);
      expect(all.length, `${low}..${high}`).toBeGreaterThanOrEqual(2);
      expect(all.length, `${low}..${high}`).toBeLessThanOrEqual(11);
      for (const t of all) expect(t.at >= low - 1e-6 && t.at <= high + 1e-6).toBe(true);
      expect(new Set(all.map((t) => t.label)).size).toBe(all.length);
    }
    expect(tick_label(12, "F/s")).toBe("1 TF/s");
    expect(tick_label(-1, "")).toBe("0.1");
    expect(tick_label(3, "")).toBe("1 k");
  });
  it("fine lines do not crowd", () => {
    expect(fine_lines({ low: 0, high: 20 })).toEqual([]);
    expect(fine_lines({ low: 0, high: 1 }).length).toBe(8);
  });
  it("zooming keeps the anchor, panning the width, and neither leaves the limits", () => {
    const limits = { low: -4, high: 6 };
    const range = { low: 0, high: 4 };
    const near = zoomed(range, 0.5, 0.25, limits);
    expect(near.low + 0.25 * span(near)).toBeCloseTo(1);
    expect(span(near)).toBeCloseTo(2);
    expect(zoomed(range, 100, 0.5, limits)).toEqual(limits);
    expect(span(zoomed(range, 1e-9, 0.5, limits))).toBeGreaterThan(0.01);
    expect(panned(range, 10, limits)).toEqual({ low: 2, high: 6 });
    expect(brushed(range, 0.75, 0.25)).toEqual({ low: 1, high: 3 });
  });
});

describe("model", () => {
  it("has every kernel once: among the roofs, on the strip, or counted as hidden", () => {
    expect(model.marks.length + model.strip.length + model.hidden.rows).toBe(rows.length);
    expect(model.strip.some((m) => !m.unknown)).toBe(true);
    expect(model.strip.some((m) => m.unknown)).toBe(true);
    expect(model.marks.some((m) => m.toward === "up")).toBe(true);
  });
  it("places a mark at its intensity and rate", () => {
    const mark = model.marks[0]!;
    const k = mark.row.kernel;
    expect(10 ** mark.x).toBeCloseTo(k.flops! / k.bytes.dram.total!, 6);
    expect(10 ** (mark.y - Math.log10(k.flops! / k.time_s!))).toBeCloseTo(1, 9);
  });
  it("draws the ceiling in use solid and the datasheet beside it", () => {
    expect(ceiling_in_use(report)).toBe("at-clock");
    const roles = model.roofs.map((r) => r.role);
    expect(roles).toContain("in-use");
    expect(roles).toContain("datasheet");
    const bf16 = model.roofs.filter((r) => r.name === "bf16.tensor");
    expect(bf16.map((r) => [r.role, r.value])).toEqual([["in-use", 8.1e14], ["datasheet", 9e14]]);
    expect(chart_model(report, rows, rows, { ...settings, ceiling: "datasheet" }).roofs.some((r) => r.role === "datasheet")).toBe(false);
  });
  it("moves the marks with the level and leaves out what has no bytes there", () => {
    expect(levels_of(rows)).toEqual(["dram", "l2"]);
    const l2 = chart_model(report, rows, rows, { ...settings, level: "l2" });
    expect(l2.marks[0]!.x).not.toBeCloseTo(model.marks[0]!.x, 3);
    const l1 = chart_model(report, rows, rows, { ...settings, level: "l1" });
    expect(l1.marks).toHaveLength(0);
    expect(l1.hidden.rows).toBe(rows.length);
  });
  it("one precision shows its kernels and its roof alone", () => {
    expect([...precisions_of(rows)].sort()).toEqual(["bf16.tensor", "fp32.vector"]);
    const one = chart_model(report, rows, rows, { ...settings, precision: "fp32.vector" });
    expect(one.marks.every((m) => m.row.kernel.by_precision.has("fp32.vector"))).toBe(true);
    expect(one.roofs.filter((r) => r.kind === "compute").every((r) => r.name === "fp32.vector")).toBe(true);
    expect(one.strip).toHaveLength(0);
  });
  it("keeps roofs and ranges while someone filters", () => {
    const few = chart_model(report, rows, rows.slice(0, 3), settings);
    expect(few.home).toEqual(model.home);
    expect(few.roofs).toEqual(model.roofs);
  });
  it("every mark and ridge lies inside the first view", () => {
    const { x, y } = model.home;
    for (const m of model.marks) expect(m.x > x.low && m.x < x.high && m.y > y.low && m.y < y.high).toBe(true);
    for (const r of model.ridges) expect(r.x > x.low && r.x < x.high).toBe(true);
  });
  it("roofs stop where others begin", () => {
    const dram = model.roofs.find((r) => r.role === "in-use" && r.level === "dram")!;
    const end = roof_span(dram, model.roofs, model.home)!.to;
    expect(end.y).toBeCloseTo(Math.log10(8.1e14), 6);
    const outside = { x: { low: 8, high: 9 }, y: { low: 1, high: 2 } };
    expect(roof_span(dram, model.roofs, outside)).toBeNull();
  });
  it("a merged precision has the best peak of its members", () => {
    const ceiling = report.machines[0]!.ceilings[0]!;
    expect(peak_of(ceiling, "fp16_bf16_tf32.tensor")).toBe(9e14);
    expect(peak_of(ceiling, "fp32.acc32.vector")).toBe(6e13);
    expect(peak_of(ceiling, "fp64.tensor")).toBeNull();
  });
  it("draws without machines, times and kernels", () => {
    const bare = read_report(JSON.stringify({ schema: "roofline/report/1", kernels: [{ name: "a" }] }));
    const all = rows_of(bare);
    const empty = chart_model(bare, all, all, settings);
    expect(empty.hidden.rows).toBe(1);
    expect(Number.isFinite(empty.home.x.low)).toBe(true);
  });
});

describe("labels and shapes", () => {
  it("labels neither overlap nor leave the plot", () => {
    const named = Array.from({ length: 60 }, (_, i) => ({ x: 20 + (i % 8) * 30, y: 20 + Math.floor(i / 8) * 20, radius: 4, text: `kernel ${i}` }));
    const area = { left: 0, top: 0, width: 300, height: 200 };
    const labels = place_labels(named, area, { boxes: [], lines: [] }, 16, (t) => t.length * 6);
    const boxes = labels.map((l) => {
      const width = l.text.length * 6;
      return { left: l.align === "left" ? l.x : l.align === "right" ? l.x - width : l.x - width / 2, top: l.y - 7, width, height: 14 };
    });
    expect(labels.length).toBeGreaterThan(0);
    boxes.forEach((a, i) => {
      expect(a.left >= 0 && a.left + a.width <= 300).toBe(true);
      for (const b of boxes.slice(i + 1))
        expect(a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height).toBe(false);
    });
  });
  it("names keep off the lines", () => {
    const named = [{ x: 100, y: 50, radius: 4, text: "kernel" }];
    const place = (lines: Segment[]) => place_labels(named, { left: 0, top: 0, width: 200, height: 100 }, { boxes: [], lines }, 1, () => 36)[0];
    expect(place([])).toMatchObject({ align: "left", y: 50 });
    const roof = { x1: 110, y1: 0, x2: 110, y2: 100 };
    expect(place([roof])).toMatchObject({ align: "right", y: 50 });
    const everywhere = Array.from({ length: 50 }, (_, i) => ({ x1: 4 * i, y1: 0, x2: 4 * i, y2: 100 }));
    expect(place(everywhere)).toBeUndefined();
    expect(crosses({ x1: 0, y1: 0, x2: 10, y2: 10 }, { left: 4, top: 4, width: 2, height: 2 })).toBe(true);
    expect(crosses({ x1: 0, y1: 0, x2: 10, y2: 10 }, { left: 6, top: 0, width: 2, height: 2 })).toBe(false);
  });
  it("every position has a shape of its own, all of one area", () => {
    expect(new Set(kPositions.map((p) => kShapes[p].path)).size).toBe(kPositions.length);
    for (const p of kPositions) {
      const { corners } = kShapes[p];
      if (corners.length === 0) continue;
      const twice = corners.reduce((sum, [x, y], i) => {
        const [nx, ny] = corners[(i + 1) % corners.length]!;
        return sum + x * ny - nx * y;
      }, 0);
      expect(Math.abs(twice) / 2, p).toBeCloseTo(Math.PI, 6);
    }
  });
});
