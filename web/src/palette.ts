// Colours and shapes: those of the program's own charts. The hues are those of Okabe and Ito ("Color Universal Design",
// 2008), which people with any kind of colour vision tell apart; shapes say the same again.
import { svg } from "./dom";
import type { Position } from "./report";

export type Theme = "light" | "dark";

export interface Ink {
  paper: string;
  text: string;
  faint: string;
  frame: string;
  grid: string;
  fine: string;
  roof: string;
  cache: string;
  sheet: string;
  other: string;
  ridge: string;
  gain: string;
  selected: string;
  positions: Record<Position, string>;
}

const kLight: Ink = {
  paper: "#ffffff",
  text: "#1b1f24",
  faint: "#4b5563",
  frame: "#8a8f98",
  grid: "#dfe3e8",
  fine: "#f1f3f5",
  roof: "#1b1f24",
  cache: "#6b7280",
  sheet: "#6b7280",
  other: "#9c6ade",
  ridge: "#6b7280",
  gain: "#4b5563",
  selected: "#1b1f24",
  positions: {
    "unplaced": "#8a8f98",
    "memory-optimal": "#0072b2",
    "memory-suboptimal": "#e69f00",
    "compute-optimal": "#009e73",
    "compute-suboptimal": "#d55e00",
    "latency-bound": "#b5508f",
    "communication-bound": "#5b5fc7",
  },
};

const kDark: Ink = {
  paper: "#0d1117",
  text: "#f0f3f6",
  faint: "#b1bac4",
  frame: "#7d8590",
  grid: "#2d333b",
  fine: "#1f242b",
  roof: "#e6edf3",
  cache: "#9aa4b0",
  sheet: "#9aa4b0",
  other: "#b794f6",
  ridge: "#9aa4b0",
  gain: "#c0c8d2",
  selected: "#f0f3f6",
  positions: {
    "unplaced": "#8b949e",
    "memory-optimal": "#56b4e9",
    "memory-suboptimal": "#f0b429",
    "compute-optimal": "#2fc59b",
    "compute-suboptimal": "#ff8a4c",
    "latency-bound": "#e59ac6",
    "communication-bound": "#a5a8ff",
  },
};

export function ink_of(theme: Theme): Ink {
  return theme === "dark" ? kDark : kLight;
}

export interface Shape {
  corners: (readonly [number, number])[]; // none: a circle. All shapes have the area of the unit circle
  path: string;
}

function polygon(points: readonly (readonly [number, number])[]): string {
  return `M${points.map(([x, y]) => `${x.toFixed(3)},${y.toFixed(3)}`).join("L")}Z`;
}

// Regular, with the area of the unit circle; `turn` in radians, 0 is to the right.
function regular(corners: number, turn: number): (readonly [number, number])[] {
  const step = (2 * Math.PI) / corners;
  const r = Math.sqrt((2 * Math.PI) / (corners * Math.sin(step)));
  return Array.from({ length: corners }, (_, i) => [r * Math.cos(turn + i * step), r * Math.sin(turn + i * step)] as const);
}

function cross(): (readonly [number, number])[] {
  const h = Math.sqrt(Math.PI / 5) / 2;
  const b = 3 * h;
  return [[-h, -b], [h, -b], [h, -h], [b, -h], [b, h], [h, h], [h, b], [-h, b], [-h, h], [-b, h], [-b, -h], [-h, -h]];
}

function shape(corners: (readonly [number, number])[]): Shape {
  return { corners, path: polygon(corners) };
}

export const kShapes: Record<Position, Shape> = {
  "memory-optimal": { corners: [], path: "M-1,0a1,1 0 1 0 2,0a1,1 0 1 0 -2,0Z" },
  "memory-suboptimal": shape(regular(3, -Math.PI / 2)),
  "compute-optimal": shape(regular(4, Math.PI / 4)),
  "compute-suboptimal": shape(regular(4, 0)),
  "latency-bound": shape(regular(3, Math.PI / 2)),
  "communication-bound": shape(cross()),
  "unplaced": shape(regular(6, 0)),
};

// The mark of a position, for keys, tables and the drawer. Its colour comes from the style sheet.
export function icon(position: Position): SVGElement {
  return svg(
    "svg",
    { class: `mark ${position}`, viewBox: "-1.6 -1.6 3.2 3.2", width: 14, height: 14, "aria-hidden": "true" },
    svg("path", { d: kShapes[position].path }),
  );
}
