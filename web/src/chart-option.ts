// The chart as ECharts draws it: one custom series whose elements are laid out here. Small marks of one look are one
// shape, so that thousands cost little more than dozens.
import type { CustomSeriesOption } from "echarts/charts";
import { graphic, type ComposeOption } from "echarts/core";
import { kLevelNames, mark_at, roof_span, type ChartModel, type ChartSettings, type Mark, type RoofLine } from "./chart-model";
import {
  crosses,
  inside,
  layout_of,
  mark_spot,
  overlaps,
  place_labels,
  strip_spot,
  x_pixel,
  y_pixel,
  type Box,
  type Label,
  type Layout,
  type Named,
  type Segment,
  type Spot,
  type Taken,
} from "./chart-layout";
import { cut_middle, si } from "./format";
import { kShapes, type Ink } from "./palette";
import { kLevels, kPositions, type Position } from "./report";
import type { Row } from "./rows";
import { fine_lines, ticks, type View } from "./scale";

export type Option = ComposeOption<CustomSeriesOption>;

export interface Scene {
  model: ChartModel;
  settings: ChartSettings;
  view: View;
  ink: Ink;
  width: number;
  height: number;
  selected: Row | null;
  heading: { title: string; subtitle: string } | null; // of exported pictures
}

const kFont = "'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif";
const kHeadHeight = 74;

// Structural types of ECharts' custom elements would say less than this.
interface Element {
  type: "line" | "text" | "rect" | "path" | "circle" | "marks";
  [key: string]: unknown;
}

let ruler: CanvasRenderingContext2D | null | undefined;
export function text_width(text: string, size: number): number {
  if (ruler === undefined) ruler = document.createElement("canvas").getContext("2d");
  if (!ruler) return text.length * size * 0.55;
  ruler.font = `${size}px ${kFont}`;
  return ruler.measureText(text).width;
}

function line(x1: number, y1: number, x2: number, y2: number, stroke: string, width: number, dash?: number[]): Element {
  return { type: "line", shape: { x1, y1, x2, y2 }, style: { stroke, lineWidth: width, lineDash: dash ?? null }, silent: true };
}

interface TextStyle {
  size?: number;
  align?: "left" | "center" | "right";
  bold?: boolean;
  italic?: boolean;
  halo?: string;
  turn?: number; // radians, counterclockwise
}

function text(x: number, y: number, value: string, fill: string, style: TextStyle = {}): Element {
  return {
    type: "text",
    x,
    y,
    rotation: style.turn ?? 0,
    silent: true,
    style: {
      text: value,
      fill,
      font: `${style.italic ? "italic " : ""}${style.bold ? "600 " : ""}${style.size ?? 12}px ${kFont}`,
      align: style.align ?? "left",
      verticalAlign: "middle",
      ...(style.halo === undefined ? {} : { stroke: style.halo, lineWidth: 3 }),
    },
  };
}

// ---------------------------------------------------------------- behind the marks

function frame(box: Box, ink: Ink): Element {
  return {
    type: "rect",
    shape: { x: box.left, y: box.top, width: box.width, height: box.height },
    style: { fill: "none", stroke: ink.frame, lineWidth: 1 },
    silent: true,
  };
}

function grid_and_axes(scene: Scene, layout: Layout): Element[] {
  const { ink, view, settings } = scene;
  const { plot } = layout;
  const out: Element[] = [];
  const bottom = plot.top + plot.height;
  const right = plot.left + plot.width;
  for (const at of fine_lines(view.x)) out.push(line(x_pixel(layout, view, at), plot.top, x_pixel(layout, view, at), bottom, ink.fine, 1));
  for (const at of fine_lines(view.y)) out.push(line(plot.left, y_pixel(layout, view, at), right, y_pixel(layout, view, at), ink.fine, 1));
  for (const tick of ticks(view.x, "", Math.max(3, Math.floor(plot.width / 48)))) {
    const x = x_pixel(layout, view, tick.at);
    out.push(line(x, plot.top, x, bottom, ink.grid, 1));
    out.push(text(x, bottom + 12, tick.label, ink.faint, { align: "center", size: 11 }));
  }
  for (const tick of ticks(view.y, "F/s", Math.max(3, Math.floor(plot.height / 34)))) {
    const y = y_pixel(layout, view, tick.at);
    out.push(line(plot.left, y, right, y, ink.grid, 1));
    out.push(text(plot.left - 6, y, tick.label, ink.faint, { align: "right", size: 11 }));
  }
  const rate = settings.precision === null ? "" : `${settings.precision} `;
  const of = settings.level === "dram" ? "DRAM" : `${kLevelNames[settings.level]} traffic`;
  const title = layout.width < 560 ? `FLOP per byte of ${of}` : `Arithmetic intensity, ${rate}FLOP per byte of ${of}`;
  out.push(text(plot.left + plot.width / 2, bottom + 32, title, ink.text, { align: "center" }));
  return out;
}

function strip_frame(scene: Scene, layout: Layout): Element[] {
  const { strip } = layout;
  const { ink, model, settings } = scene;
  if (!strip) return [];
  const out: Element[] = [frame(strip, ink)];
  const high = model.strip_high * 1.04;
  const step = high > 2.2 ? Math.ceil(high / 5) : 0.25;
  for (let f = 0; f <= high; f += step) {
    const y = strip.top + (1 - f / high) * strip.height;
    out.push(line(strip.left, y, strip.left + strip.width, y, f === 1 ? ink.roof : ink.grid, f === 1 ? 2 : 1));
    out.push(text(strip.left - 5, y, `${Math.round(100 * f)}%`, ink.faint, { align: "right", size: 11 }));
  }
  const bottom = strip.top + strip.height;
  const middle = strip.left + strip.width / 2;
  const level = kLevelNames[settings.level];
  const lines =
    strip.width >= 110 ? ["no FLOPs, or not counted:", `share of ${level} bandwidth`] : strip.width >= 50 ? ["no FLOPs:", `share of ${level}`] : ["0 FLOP", ""];
  lines.forEach((words, i) => out.push(text(middle, bottom + 14 + 15 * i, words, ink.text, { align: "center", size: 11 })));
  return out;
}

interface RoofStyle {
  stroke: string;
  width: number;
  dash?: number[];
}

function roof_style(roof: RoofLine, scene: Scene): RoofStyle {
  const { ink, settings } = scene;
  if (roof.role === "datasheet") return { stroke: ink.sheet, width: 1.4, dash: [7, 4] };
  if (roof.role === "other") return { stroke: ink.other, width: 1.4, dash: [10, 3, 2, 3] };
  const main = roof.kind === "compute" || roof.level === settings.level;
  return main ? { stroke: ink.roof, width: 2.4 } : { stroke: ink.cache, width: 1.3 };
}

interface Drawn {
  elements: Element[];
  boxes: Box[]; // names
  lines: Segment[];
}

interface RoofName {
  element: Element;
  boxes: Box[];
}

// Names above or below a flat roof, from its right end on.
function flat_names(label: string, width: number, line: Segment, sides: readonly number[], plot: Box, ink: Ink): RoofName[] {
  const out: RoofName[] = [];
  const right = plot.left + plot.width - 6;
  for (let away = 0; right - away - width >= plot.left + 2; away += 24)
    for (const side of sides) {
      const y = line.y1 + side * 9.5;
      out.push({
        element: text(right - away, y, label, ink.faint, { align: "right", size: 11, italic: true, halo: ink.paper }),
        boxes: [{ left: right - away - width, top: y - 7.5, width, height: 15 }],
      });
    }
  return out;
}

// Names along a slope, from its lower end on.
function slope_names(label: string, width: number, line: Segment, sides: readonly number[], ink: Ink): RoofName[] {
  const out: RoofName[] = [];
  const length = Math.hypot(line.x2 - line.x1, line.y2 - line.y1);
  const turn = Math.atan2(line.y1 - line.y2, line.x2 - line.x1);
  for (const side of sides)
    for (let start = 10; start + width <= length; start += 16) {
      const x = line.x1 + Math.cos(turn) * start + Math.sin(turn) * side * 10;
      const y = line.y1 - Math.sin(turn) * start + Math.cos(turn) * side * 10;
      const boxes: Box[] = [];
      for (let along = 0; along <= width; along += 8)
        boxes.push({ left: x + Math.cos(turn) * along - 4, top: y - Math.sin(turn) * along - 4, width: 8, height: 8 });
      out.push({ element: text(x, y, label, ink.faint, { size: 11, italic: true, halo: ink.paper, turn }), boxes });
    }
  return out;
}

// Lines, and their names where these cover neither marks nor other lines; else where they cover no other name.
function roofs(scene: Scene, layout: Layout, marks: readonly Spot[]): Drawn {
  const { model, view, ink } = scene;
  const { plot } = layout;
  const out: Drawn = { elements: [], boxes: [], lines: [] };
  const drawn: { roof: RoofLine; line: Segment }[] = [];
  for (const roof of [...model.roofs].sort((a, b) => b.value - a.value)) {
    const span = roof_span(roof, model.roofs, view);
    if (!span) continue;
    const style = roof_style(roof, scene);
    const at: Segment = {
      x1: x_pixel(layout, view, span.from.x),
      y1: y_pixel(layout, view, span.from.y),
      x2: x_pixel(layout, view, span.to.x),
      y2: y_pixel(layout, view, span.to.y),
    };
    out.elements.push(line(at.x1, at.y1, at.x2, at.y2, style.stroke, style.width, style.dash));
    out.lines.push(at);
    drawn.push({ roof, line: at });
  }
  const kMarksSeen = 300;
  const covered = marks.slice(0, kMarksSeen).map((m) => ({ left: m.x - m.radius, top: m.y - m.radius, width: 2 * m.radius, height: 2 * m.radius }));
  // The datasheet's roofs lie above those in use, and so do their names.
  const narrow = layout.width < 560;
  const two = !narrow && model.roofs.some((r) => r.role === "datasheet");
  for (const { roof, line: at } of drawn) {
    if (narrow && roof.role !== "in-use") continue;
    const label = roof.role === "datasheet" ? `${roof.label} datasheet` : roof.label;
    const width = text_width(label, 11);
    const sides = two && roof.role === "in-use" ? [1, -1] : [-1, 1];
    const names = roof.kind === "compute" ? flat_names(label, width, at, sides, plot, ink) : slope_names(label, width, at, sides, ink);
    const apart = names.filter((n) => n.boxes.every((b) => inside(b, plot) && !out.boxes.some((o) => overlaps(o, b))));
    const clear = apart.find((n) => !n.boxes.some((b) => out.lines.some((l) => crosses(l, b)) || covered.some((m) => overlaps(m, b))));
    const best = clear ?? apart[0];
    if (!best) continue;
    out.elements.push(best.element);
    out.boxes.push(...best.boxes);
  }
  return out;
}

function ridges(scene: Scene, layout: Layout): Element[] {
  const { model, view, ink } = scene;
  const { plot } = layout;
  const out: Element[] = [];
  let right = Infinity;
  for (const ridge of [...model.ridges].sort((a, b) => b.x - a.x)) {
    if (ridge.x <= view.x.low || ridge.x >= view.x.high) continue;
    const x = x_pixel(layout, view, ridge.x);
    const top = Math.max(plot.top, Math.min(plot.top + plot.height, y_pixel(layout, view, ridge.y)));
    out.push(line(x, top, x, plot.top + plot.height, ink.ridge, 1, [2, 3]));
    const label = layout.width < 560 ? ridge.label.replace(/ FLOP\/B$/, "") : ridge.label;
    const width = text_width(label, 10.5);
    if (x + 4 + width > Math.min(right, plot.left + plot.width)) continue;
    right = x;
    out.push(text(x + 4, plot.top + plot.height - 9, label, ink.faint, { size: 10.5, halo: ink.paper }));
  }
  return out;
}

// ---------------------------------------------------------------- in front

const kArrows = 8;

// From a kernel worth a look straight up to the roof that binds it: same work, less time. Largest gains only.
function gains(scene: Scene, layout: Layout, spots: ReadonlyMap<Mark, Spot>): { elements: Element[]; lines: Segment[] } {
  const { model, view, ink } = scene;
  const best = model.marks
    .filter((m) => m.row.kernel.look && m.row.kernel.gain_s !== null && m.roof_y !== null)
    .sort((a, b) => (b.row.kernel.gain_s ?? 0) - (a.row.kernel.gain_s ?? 0))
    .slice(0, kArrows);
  const elements: Element[] = [];
  const lines: Segment[] = [];
  for (const mark of best) {
    const spot = spots.get(mark);
    if (!spot || mark.roof_y === null || !in_plot(layout, spot)) continue;
    const top = Math.max(y_pixel(layout, view, mark.roof_y), layout.plot.top);
    if (spot.y - spot.radius - top < 10) continue;
    elements.push(line(spot.x, spot.y - spot.radius, spot.x, top + 7, ink.gain, 1.2, [3, 2]));
    elements.push(head(spot.x, top + 1, 0, -1, ink.gain));
    lines.push({ x1: spot.x, y1: spot.y - spot.radius, x2: spot.x, y2: top });
  }
  return { elements, lines };
}

function head(x: number, y: number, dx: number, dy: number, fill: string): Element {
  const size = 7;
  const bx = x - dx * size;
  const by = y - dy * size;
  const half = 0.45 * size;
  const points = [
    [x, y],
    [bx - dy * half, by + dx * half],
    [bx + dy * half, by - dx * half],
  ];
  return { type: "path", shape: { pathData: `M${points.map((p) => p.join(",")).join("L")}Z` }, style: { fill }, silent: true };
}

function in_plot(layout: Layout, spot: { x: number; y: number }): boolean {
  const { plot } = layout;
  return spot.x >= plot.left && spot.x <= plot.left + plot.width && spot.y >= plot.top && spot.y <= plot.top + plot.height;
}

// Towards where the truth lies. In a crowd the open marks must do: arrows at all of them would hide it.
const kMostBounds = 60;
function bounds(scene: Scene, layout: Layout, spots: ReadonlyMap<Mark, Spot>): Element[] {
  const out: Element[] = [];
  for (const mark of scene.model.marks) {
    if (out.length >= 2 * kMostBounds) break;
    const spot = spots.get(mark);
    if (mark.toward === "nowhere" || !spot || !in_plot(layout, spot)) continue;
    const [dx, dy] = mark.toward === "up" ? [0, -1] : mark.toward === "left" ? [-1, 0] : [1, 0];
    const from = spot.radius;
    const to = spot.radius * 1.5 + 7;
    out.push(line(spot.x + dx * from, spot.y + dy * from, spot.x + dx * (to - 5), spot.y + dy * (to - 5), scene.ink.gain, 1.3));
    out.push(head(spot.x + dx * to, spot.y + dy * to, dx, dy, scene.ink.gain));
  }
  return out;
}

// The selected kernel: a ring, and its other memory levels joined to it.
function selection(scene: Scene, layout: Layout, named: ReadonlyMap<Row, Spot>): Element[] {
  const { selected, ink, settings, view } = scene;
  if (!selected) return [];
  const out: Element[] = [];
  const spot = named.get(selected);
  const levels = kLevels.map((l) => mark_at(selected, l, settings)).filter((m): m is Mark => m !== null);
  if (spot && in_plot(layout, spot) && levels.length > 1) {
    const xs = levels.map((m) => x_pixel(layout, view, m.x));
    out.push(line(Math.max(layout.plot.left, Math.min(...xs)), spot.y, Math.min(layout.plot.left + layout.plot.width, Math.max(...xs)), spot.y, ink.selected, 1, [2, 2]));
    for (const mark of levels) {
      const x = x_pixel(layout, view, mark.x);
      if (Math.abs(x - spot.x) < 1 || !in_plot(layout, { x, y: spot.y })) continue;
      out.push({ type: "circle", shape: { cx: x, cy: spot.y, r: 4 }, style: { fill: ink.paper, stroke: ink.selected, lineWidth: 1.5 }, silent: true });
      const below = Math.abs(x - spot.x) < spot.radius + 30 ? spot.radius + 15 : 13;
      out.push(text(x, spot.y + below, kLevelNames[mark.at], ink.faint, { size: 10.5, align: "center", halo: ink.paper }));
    }
  }
  if (spot)
    out.push({
      type: "circle",
      shape: { cx: spot.x, cy: spot.y, r: spot.radius + 5 },
      style: { fill: "none", stroke: ink.selected, lineWidth: 2 },
      silent: true,
    });
  return out;
}

const kMostNamed = 300;

// For where there is little room; the end of a name where its middle does not tell it apart.
function short_forms(marks: readonly Mark[]): Map<string, string> {
  const names = new Set(marks.slice(0, kMostNamed).map((m) => m.row.name));
  const uses = new Map<string, number>();
  for (const name of names) uses.set(cut_middle(name, 9), (uses.get(cut_middle(name, 9)) ?? 0) + 1);
  const short = (name: string) => ((uses.get(cut_middle(name, 9)) ?? 0) > 1 ? `…${[...name].slice(-8).join("")}` : cut_middle(name, 9));
  return new Map([...names].map((name) => [name, short(name)]));
}

function labels(scene: Scene, layout: Layout, spots: ReadonlyMap<Mark, Spot>, taken: Taken): Element[] {
  const { model, ink } = scene;
  const narrow = layout.width < 560;
  const named: Named[] = [];
  const short_names = narrow ? short_forms(model.marks) : new Map<string, string>();
  for (const mark of model.marks) {
    const spot = spots.get(mark);
    if (!spot || !in_plot(layout, spot)) continue;
    const kernel = mark.row.kernel;
    let name = cut_middle(mark.row.name, narrow ? 16 : 28);
    if (mark.row.grid !== "") name += ` ${mark.row.grid}`;
    if (mark.at !== scene.settings.level) name += ` (${kLevelNames[mark.at]})`;
    if (kernel.look && kernel.gain_s !== null && kernel.gain_s > 0) name += ` −${si(kernel.gain_s, "s")}`;
    named.push({ ...spot, text: name, short: short_names.get(mark.row.name) });
    if (named.length >= kMostNamed) break;
  }
  const placed = place_labels(named, layout.plot, taken, narrow ? 6 : 16, (t) => text_width(t, 11.5));
  return placed.map((l: Label) => text(l.x, l.y, l.text, ink.text, { size: 11.5, align: l.align, halo: ink.paper }));
}

function heading(scene: Scene): Element[] {
  const { heading: head_text, ink, model } = scene;
  if (!head_text) return [];
  const out = [
    text(12, 18, head_text.title, ink.text, { size: 16, bold: true }),
    text(12, 38, head_text.subtitle, ink.faint, { size: 12 }),
  ];
  let x = 20;
  const used = new Set([...model.marks, ...model.strip].map((m) => m.position));
  for (const position of kPositions.filter((p) => used.has(p))) {
    out.push({ type: "path", x, y: 58, scaleX: 5, scaleY: 5, shape: { pathData: kShapes[position].path }, style: { fill: ink.positions[position] }, silent: true });
    out.push(text(x + 11, 58, position, ink.text, { size: 11.5 }));
    x += 30 + text_width(position, 11.5);
  }
  out.push(text(x, 58, "area: share of the time", ink.faint, { size: 11.5 }));
  return out;
}

// ---------------------------------------------------------------- marks

// A mark where it is drawn, for whoever wants to know what is under the pointer.
export interface SpottedMark extends Spot {
  row: Row;
  position: Position;
  open: boolean; // a bound
}

interface MarksShape {
  position: Position;
  spots: readonly Spot[];
}

const MarksElement = graphic.extendShape({
  type: "marks",
  shape: { position: "memory-optimal", spots: [] } as MarksShape,
  buildPath(path: CanvasRenderingContext2D, shape: unknown) {
    const { position, spots } = shape as MarksShape;
    const { corners } = kShapes[position];
    for (const { x, y, radius } of spots) {
      if (corners.length === 0) {
        path.moveTo(x + radius, y);
        path.arc(x, y, radius, 0, 2 * Math.PI);
        continue;
      }
      // To the first corner again: closePath() costs more than all the rest.
      for (let i = 0; i <= corners.length; ++i) {
        const [cx, cy] = corners[i % corners.length]!;
        if (i === 0) path.moveTo(x + cx * radius, y + cy * radius);
        else path.lineTo(x + cx * radius, y + cy * radius);
      }
    }
  },
});
graphic.registerShape("marks", MarksElement);

const kCrowd = 800; // marks of one look, from which their pale outline tells nobody apart

function marks_element(position: Position, open: boolean, spots: readonly Spot[], ink: Ink): Element {
  const colour = ink.positions[position];
  const outline = spots.length < kCrowd ? { stroke: ink.paper, lineWidth: 1 } : {};
  return {
    type: "marks",
    silent: true,
    shape: { position, spots },
    style: open ? { fill: ink.paper, stroke: colour, lineWidth: 1.8, opacity: 0.92 } : { fill: colour, opacity: 0.87, ...outline },
  };
}

const kSmall = 5.5; // radius up to which marks of one look are drawn together

// Marks come with the most time first, so that small ones lie on top.
function marks_elements(marks: readonly SpottedMark[], ink: Ink): Element[] {
  const large: Element[] = [];
  const small = new Map<string, SpottedMark[]>();
  for (const mark of marks) {
    if (mark.radius > kSmall) {
      large.push(marks_element(mark.position, mark.open, [mark], ink));
      continue;
    }
    const look = `${mark.position} ${mark.open}`;
    const twins = small.get(look);
    if (twins) twins.push(mark);
    else small.set(look, [mark]);
  }
  const together = [...small.values()].map((twins) => marks_element(twins[0]!.position, twins[0]!.open, twins, ink));
  return [...large, ...together];
}

// ---------------------------------------------------------------- all of it

export interface Drawing {
  option: Option;
  layout: Layout;
  marks: SpottedMark[]; // in drawing order
}

export function drawing_of(scene: Scene): Drawing {
  const { model, view, ink } = scene;
  const layout = layout_of(scene.width, scene.height, model, scene.heading ? kHeadHeight : 0);
  const spots = new Map<Mark, Spot>();
  const by_row = new Map<Row, Spot>();
  const marks: SpottedMark[] = [];
  for (const mark of model.marks) {
    const spot = mark_spot(layout, view, mark);
    spots.set(mark, spot);
    by_row.set(mark.row, spot);
    if (in_plot(layout, spot)) marks.push({ ...spot, row: mark.row, position: mark.position, open: mark.toward !== "nowhere" });
  }
  if (layout.strip)
    for (const [i, mark] of model.strip.entries()) {
      const spot = strip_spot(layout.strip, model, mark, i, layout.width);
      by_row.set(mark.row, spot);
      marks.push({ ...spot, row: mark.row, position: mark.position, open: mark.unknown });
    }
  const lines = roofs(scene, layout, marks);
  const arrows = gains(scene, layout, spots);
  const children = [
    ...grid_and_axes(scene, layout),
    ...strip_frame(scene, layout),
    ...ridges(scene, layout),
    ...lines.elements,
    frame(layout.plot, ink),
    ...marks_elements(marks, ink),
    ...arrows.elements,
    ...bounds(scene, layout, spots),
    ...labels(scene, layout, spots, { boxes: lines.boxes, lines: [...lines.lines, ...arrows.lines] }),
    ...selection(scene, layout, by_row),
    ...heading(scene),
  ];
  const option: Option = {
    animation: false,
    backgroundColor: ink.paper,
    series: [
      {
        id: "roofline",
        type: "custom",
        coordinateSystem: "none",
        silent: true,
        data: [0],
        // What was drawn before is thrown away: a line does not turn into another line.
        renderItem: () => ({ type: "group", silent: true, children, $mergeChildren: false }) as never,
      },
    ],
  };
  return { option, layout, marks };
}
