// Where things stand on the chart, in CSS pixels.
import type { ChartModel, Mark, StripMark } from "./chart-model";
import type { View } from "./scale";
import { span } from "./scale";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Layout {
  width: number;
  height: number;
  plot: Box;
  strip: Box | null;
}

export function layout_of(width: number, height: number, model: ChartModel, head: number): Layout {
  const narrow = width < 560;
  const left = narrow ? 62 : 66; // of "100 TF/s" in the widest of the fonts
  const right = narrow ? 8 : 16;
  const top = head + 10;
  const bottom = 46;
  // Where every kernel stands on the strip, it is the chart.
  const alone = model.marks.length === 0 ? Math.round(0.42 * width) - left : 0;
  const strip_width = model.strip.length === 0 ? 0 : Math.max(narrow ? 34 : 58, alone);
  const gap = strip_width === 0 ? 0 : left;
  const tall = Math.max(60, height - top - bottom);
  const strip_left = narrow ? 42 : 44;
  const plot_left = strip_width === 0 ? left : strip_left + strip_width + gap;
  return {
    width,
    height,
    plot: { left: plot_left, top, width: Math.max(60, width - plot_left - right), height: tall },
    strip: strip_width === 0 ? null : { left: strip_left, top, width: strip_width, height: tall },
  };
}

export function x_pixel(layout: Layout, view: View, x: number): number {
  return layout.plot.left + ((x - view.x.low) / span(view.x)) * layout.plot.width;
}
export function y_pixel(layout: Layout, view: View, y: number): number {
  return layout.plot.top + (1 - (y - view.y.low) / span(view.y)) * layout.plot.height;
}

// Of the circle with the mark's area: the area is the share of the time, with a least size that still can be pointed at.
export function radius_of(share: number, width: number): number {
  return Math.max(width < 560 ? 3 : 3.4, Math.sqrt(share) * (width < 560 ? 20 : 27));
}

// Spreads the marks of the strip sideways by their order, so that equal fractions do not hide each other.
export function strip_offset(index: number): number {
  const golden = 0.618034;
  return 0.18 + 0.64 * ((0.5 + index * golden) % 1);
}

export interface Label {
  text: string;
  x: number;
  y: number; // middle of the line
  align: "left" | "right" | "center";
}

export interface Segment {
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

// Whether the line passes through the box: the part of it inside each half-plane (Liang and Barsky's clipping).
export function crosses(line: Segment, box: Box): boolean {
  let enter = 0;
  let leave = 1;
  const clip = (delta: number, room: number): boolean => {
    if (delta === 0) return room >= 0;
    if (delta < 0) enter = Math.max(enter, room / delta);
    else leave = Math.min(leave, room / delta);
    return enter <= leave;
  };
  const [dx, dy] = [line.x2 - line.x1, line.y2 - line.y1];
  return (
    clip(-dx, line.x1 - box.left) &&
    clip(dx, box.left + box.width - line.x1) &&
    clip(-dy, line.y1 - box.top) &&
    clip(dy, box.top + box.height - line.y1)
  );
}

export function overlaps(a: Box, b: Box): boolean {
  return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height;
}
export function inside(a: Box, b: Box): boolean {
  return a.left >= b.left && a.top >= b.top && a.left + a.width <= b.left + b.width && a.top + a.height <= b.top + b.height;
}

export interface Named {
  x: number;
  y: number;
  radius: number;
  text: string;
  short?: string | undefined; // where there is no room for the text
}

// What is drawn already: names, and lines that no name should lie across.
export interface Taken {
  boxes: readonly Box[];
  lines: readonly Segment[];
}

const kLabelHeight = 15;

// Beside the mark reads best, then above and below, then the corners.
function label_places(n: Named, words: string): Label[] {
  const reach = n.radius + 4;
  return [
    { text: words, x: n.x + reach, y: n.y, align: "left" },
    { text: words, x: n.x - reach, y: n.y, align: "right" },
    { text: words, x: n.x, y: n.y - reach - kLabelHeight / 2, align: "center" },
    { text: words, x: n.x, y: n.y + reach + kLabelHeight / 2, align: "center" },
    { text: words, x: n.x + reach * 0.8, y: n.y + reach * 0.8 + 4, align: "left" },
    { text: words, x: n.x + reach * 0.8, y: n.y - reach * 0.8 - 4, align: "left" },
    { text: words, x: n.x - reach * 0.8, y: n.y + reach * 0.8 + 4, align: "right" },
    { text: words, x: n.x - reach * 0.8, y: n.y - reach * 0.8 - 4, align: "right" },
    { text: words, x: n.x - n.radius, y: n.y + reach + kLabelHeight / 2, align: "left" },
    { text: words, x: n.x + n.radius, y: n.y - reach - kLabelHeight / 2, align: "right" },
    { text: words, x: n.x + n.radius, y: n.y + reach + kLabelHeight / 2, align: "right" },
    { text: words, x: n.x - n.radius, y: n.y - reach - kLabelHeight / 2, align: "left" },
  ];
}

function label_box(label: Label, width: number): Box {
  const left = label.align === "left" ? label.x : label.align === "right" ? label.x - width : label.x - width / 2;
  return { left: left - 1, top: label.y - kLabelHeight / 2, width: width + 2, height: kLabelHeight };
}

// Names beside the marks with the most time, where there is room. Greedy: the first of `named` chooses first.
export function place_labels(named: readonly Named[], area: Box, taken: Taken, most: number, measure: (text: string) => number): Label[] {
  const kMarksSeen = 300;
  const boxes: Box[] = [...taken.boxes];
  const marks = named.slice(0, kMarksSeen).map((n) => ({
    left: n.x - n.radius,
    top: n.y - n.radius,
    width: 2 * n.radius,
    height: 2 * n.radius,
  }));
  const out: Label[] = [];
  for (const [index, n] of named.slice(0, 4 * most).entries()) {
    if (out.length >= most) break;
    const room_for = (words: string): boolean => {
      const width = measure(words);
      for (const label of label_places(n, words)) {
        const box = label_box(label, width);
        if (!inside(box, area) || boxes.some((b) => overlaps(b, box))) continue;
        if (marks.some((m, i) => i !== index && overlaps(m, box)) || taken.lines.some((l) => crosses(l, box))) continue;
        boxes.push(box);
        out.push(label);
        return true;
      }
      return false;
    };
    if (!room_for(n.text) && n.short !== undefined) room_for(n.short);
  }
  return out;
}

export interface Spot {
  x: number;
  y: number;
  radius: number;
}

export function mark_spot(layout: Layout, view: View, mark: Mark): Spot {
  return { x: x_pixel(layout, view, mark.x), y: y_pixel(layout, view, mark.y), radius: radius_of(mark.share, layout.width) };
}

export function strip_spot(strip: Box, model: ChartModel, mark: StripMark, index: number, width: number): Spot {
  return {
    x: strip.left + strip_offset(index) * strip.width,
    y: strip.top + (1 - mark.fraction / (model.strip_high * 1.04)) * strip.height,
    radius: Math.min(radius_of(mark.share, width), strip.width / 3.5),
  };
}
