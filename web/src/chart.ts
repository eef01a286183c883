// The chart on the page: drawing, zoom, hover, and its pictures for export.
import { CustomChart } from "echarts/charts";
import { init, use, type EChartsType } from "echarts/core";
import { CanvasRenderer, SVGRenderer } from "echarts/renderers";
import { drawing_of, type Scene, type SpottedMark } from "./chart-option";
import type { Layout } from "./chart-layout";
import type { ChartModel, ChartSettings } from "./chart-model";
import { el } from "./dom";
import { ink_of, type Theme } from "./palette";
import type { Row } from "./rows";
import { brushed, panned, same, zoomed, type Range, type View } from "./scale";

use([CustomChart, CanvasRenderer, SVGRenderer]);

export interface ChartEvents {
  hover: (row: Row | null, x: number, y: number) => void;
  pick: (row: Row) => void;
  zoomed: (changed: boolean) => void;
}

const kWheelStep = 1.18;
const kKeyStep = 1.4;
const kClickSlack = 4; // pixels that a click may move
const kRoom = 2; // decades that zooming out shows beyond the first view

function limits_of(range: Range): Range {
  return { low: range.low - kRoom, high: range.high + kRoom };
}

export class RooflineChart {
  private readonly echarts: EChartsType;
  private readonly box = el("div", { class: "brush", hidden: true });
  private readonly ring = el("div", { class: "ring", hidden: true });
  private size = { width: 0, height: 0 };
  private marks: SpottedMark[] = [];
  private hovered: Row | null = null;
  private pointed: Row | null = null;
  private model: ChartModel | null = null;
  private settings: ChartSettings = { level: "dram", precision: null, ceiling: "datasheet" };
  private theme: Theme = "light";
  private view: View | null = null;
  private layout: Layout | null = null;
  private selected: Row | null = null;
  private drag: { x: number; y: number; view: View; pan: boolean; id: number; moved: boolean } | null = null;
  private pinch: { distance: number; at: { x: number; y: number }; view: View } | null = null;
  private frame = 0;

  constructor(
    private readonly container: HTMLElement,
    private readonly events: ChartEvents,
  ) {
    const canvas = el("div", { class: "canvas" });
    container.append(canvas, this.ring, this.box);
    this.measure();
    this.echarts = init(canvas, null, { renderer: "canvas", ...this.size });
    this.listen();
    new ResizeObserver(() => this.resize()).observe(container);
  }

  // `keep` leaves the zoom as it is.
  show(model: ChartModel, settings: ChartSettings, theme: Theme, keep: boolean): void {
    const zoomed_in = keep && this.model !== null && this.view !== null && !same(this.view, this.model.home);
    this.model = model;
    this.settings = settings;
    this.theme = theme;
    if (!zoomed_in) this.view = model.home;
    this.draw();
  }

  select(row: Row | null): void {
    if (row === this.selected) return;
    this.selected = row;
    this.schedule();
  }

  // Rings the mark of a row that the pointer rests on, here or elsewhere.
  point_out(row: Row | null): void {
    this.pointed = row;
    const mark = row === null ? undefined : this.marks.find((m) => m.row === row);
    this.ring.hidden = !mark;
    if (!mark) return;
    const radius = mark.radius + 4;
    this.ring.style.left = `${mark.x - radius}px`;
    this.ring.style.top = `${mark.y - radius}px`;
    this.ring.style.width = this.ring.style.height = `${2 * radius}px`;
  }

  reset(): void {
    if (this.model) this.set_view(this.model.home);
  }

  // factor < 1 zooms in; the anchor is a share of the plot, from the lower left.
  zoom(factor: number, at = { x: 0.5, y: 0.5 }): void {
    if (!this.model || !this.view) return;
    const { home } = this.model;
    this.set_view({
      x: zoomed(this.view.x, factor, at.x, limits_of(home.x)),
      y: zoomed(this.view.y, factor, at.y, limits_of(home.y)),
    });
  }

  pan(dx: number, dy: number, from: View | null = this.view): void {
    if (!this.model || !from) return;
    const { home } = this.model;
    this.set_view({ x: panned(from.x, dx, limits_of(home.x)), y: panned(from.y, dy, limits_of(home.y)) });
  }

  // Handles a key; false where it means nothing here.
  key(event: KeyboardEvent): boolean {
    const steps: Record<string, () => void> = {
      "+": () => this.zoom(1 / kKeyStep),
      "=": () => this.zoom(1 / kKeyStep),
      "-": () => this.zoom(kKeyStep),
      "0": () => this.reset(),
      ArrowLeft: () => this.pan(-0.1, 0),
      ArrowRight: () => this.pan(0.1, 0),
      ArrowUp: () => this.pan(0, 0.1),
      ArrowDown: () => this.pan(0, -0.1),
    };
    const step = event.ctrlKey || event.metaKey || event.altKey ? undefined : steps[event.key];
    step?.();
    return step !== undefined;
  }

  svg(title: string, subtitle: string): string {
    const picture = init(null, null, { renderer: "svg", ssr: true, width: kExportWidth, height: kExportHeight });
    picture.setOption(this.export_option(title, subtitle));
    const out = picture.renderToSVGString();
    picture.dispose();
    return out;
  }

  async png(title: string, subtitle: string): Promise<Blob> {
    const canvas = document.createElement("canvas");
    const picture = init(canvas as unknown as HTMLElement, null, {
      renderer: "canvas",
      width: kExportWidth,
      height: kExportHeight,
      devicePixelRatio: 2,
    });
    picture.setOption(this.export_option(title, subtitle));
    const drawn = picture.renderToCanvas({ pixelRatio: 2 });
    picture.dispose();
    return new Promise((done, fail) =>
      drawn.toBlob((blob) => (blob ? done(blob) : fail(new Error("the browser made no PNG"))), "image/png"),
    );
  }

  // For printing: another size and theme for a while.
  redraw(theme: Theme): void {
    this.theme = theme;
    this.resize();
    this.draw();
  }

  resize(): void {
    const { width, height } = this.size;
    this.measure();
    if (width === this.size.width && height === this.size.height) return;
    this.echarts.resize(this.size);
    this.draw();
  }

  // Asked for only when it may have changed: the answer makes the browser lay the whole page out.
  private measure(): void {
    this.size = { width: Math.max(240, this.container.clientWidth), height: Math.max(240, this.container.clientHeight) };
  }

  private scene(): Scene | null {
    if (!this.model || !this.view) return null;
    return {
      model: this.model,
      settings: this.settings,
      view: this.view,
      ink: ink_of(this.theme),
      ...this.size,
      selected: this.selected,
      heading: null,
    };
  }

  private export_option(title: string, subtitle: string) {
    const scene = this.scene();
    if (!scene) throw new Error("there is no chart yet");
    return drawing_of({ ...scene, selected: null, width: kExportWidth, height: kExportHeight, heading: { title, subtitle } }).option;
  }

  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const scene = this.scene();
    if (!scene) return;
    const { option, layout, marks } = drawing_of(scene);
    this.layout = layout;
    this.marks = marks;
    this.echarts.setOption(option, { silent: true });
    this.point_out(this.pointed);
    this.events.zoomed(this.model !== null && !same(scene.view, this.model.home));
  }

  private set_view(view: View): void {
    this.view = view;
    this.schedule();
  }

  // The mark on top at a place, with a little slack for small ones.
  private mark_at(x: number, y: number): SpottedMark | null {
    for (let i = this.marks.length - 1; i >= 0; --i) {
      const mark = this.marks[i];
      if (mark && Math.hypot(mark.x - x, mark.y - y) <= mark.radius + 2) return mark;
    }
    return null;
  }

  // ------------------------------------------------------------ pointer

  // Share of the plot, from its lower left; null outside.
  private share_at(event: MouseEvent): { x: number; y: number } | null {
    const at = this.share_of(event.clientX, event.clientY);
    return !at || at.x < 0 || at.x > 1 || at.y < 0 || at.y > 1 ? null : at;
  }
  private share_of(client_x: number, client_y: number): { x: number; y: number } | null {
    if (!this.layout) return null;
    const rect = this.container.getBoundingClientRect();
    const { plot } = this.layout;
    return { x: (client_x - rect.left - plot.left) / plot.width, y: 1 - (client_y - rect.top - plot.top) / plot.height };
  }

  private hover(event: PointerEvent): void {
    if (this.drag?.moved) return;
    const rect = this.container.getBoundingClientRect();
    const [x, y] = [event.clientX - rect.left, event.clientY - rect.top];
    const row = this.mark_at(x, y)?.row ?? null;
    this.set_hovered(row, x, y);
  }

  private set_hovered(row: Row | null, x: number, y: number): void {
    if (row === this.hovered) return;
    this.hovered = row;
    this.container.classList.toggle("on-mark", row !== null);
    this.point_out(row);
    this.events.hover(row, x, y);
  }

  private click(event: MouseEvent): void {
    const rect = this.container.getBoundingClientRect();
    const mark = this.mark_at(event.clientX - rect.left, event.clientY - rect.top);
    if (mark && !this.drag?.moved) this.events.pick(mark.row);
  }

  private listen(): void {
    const { container } = this;
    container.addEventListener("pointermove", (event) => this.hover(event));
    container.addEventListener("pointerleave", () => this.set_hovered(null, 0, 0));
    container.addEventListener("click", (event) => this.click(event));
    container.addEventListener(
      "wheel",
      (event) => {
        const at = this.share_at(event);
        if (!at || event.deltaY === 0) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? kWheelStep : 1 / kWheelStep, at);
      },
      { passive: false },
    );
    container.addEventListener("dblclick", () => this.reset());
    container.addEventListener("pointerdown", (event) => this.begin_drag(event));
    container.addEventListener("pointermove", (event) => this.continue_drag(event));
    container.addEventListener("pointerup", (event) => this.end_drag(event, true));
    container.addEventListener("pointercancel", (event) => this.end_drag(event, false));
    for (const kind of ["touchstart", "touchmove", "touchend", "touchcancel"] as const)
      container.addEventListener(kind, (event) => this.touch(event), { passive: false });
  }

  // Two fingers zoom and move the chart; one scrolls the page, as elsewhere.
  private touch(event: TouchEvent): void {
    const [a, b] = [event.touches[0], event.touches[1]];
    if (event.touches.length !== 2 || !a || !b || !this.model || !this.view) {
      this.pinch = null;
      return;
    }
    const at = this.share_of((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
    if (!at) return;
    if (event.cancelable) event.preventDefault();
    const distance = Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY));
    if (!this.pinch) {
      this.set_hovered(null, 0, 0);
      this.pinch = { distance, at, view: this.view };
      return;
    }
    const { pinch } = this;
    const limits = { x: limits_of(this.model.home.x), y: limits_of(this.model.home.y) };
    const stretched = (axis: "x" | "y") =>
      panned(zoomed(pinch.view[axis], pinch.distance / distance, pinch.at[axis], limits[axis]), pinch.at[axis] - at[axis], limits[axis]);
    this.set_view({ x: stretched("x"), y: stretched("y") });
  }

  private begin_drag(event: PointerEvent): void {
    this.drag = null;
    if (event.button !== 0 || event.pointerType === "touch" || !this.view || !this.share_at(event)) return;
    this.drag = { x: event.clientX, y: event.clientY, view: this.view, pan: event.shiftKey, id: event.pointerId, moved: false };
  }

  private continue_drag(event: PointerEvent): void {
    const { drag, layout } = this;
    if (!drag || drag.id !== event.pointerId || !layout) return;
    const dx = event.clientX - drag.x;
    const dy = event.clientY - drag.y;
    if (!drag.moved && Math.hypot(dx, dy) < kClickSlack) return;
    if (!drag.moved) this.container.setPointerCapture(event.pointerId);
    drag.moved = true;
    if (drag.pan) {
      this.pan(-dx / layout.plot.width, dy / layout.plot.height, drag.view);
      return;
    }
    const rect = this.container.getBoundingClientRect();
    const clip = (v: number, low: number, size: number) => Math.min(Math.max(v, low), low + size);
    const { plot } = layout;
    const x1 = clip(drag.x - rect.left, plot.left, plot.width);
    const x2 = clip(event.clientX - rect.left, plot.left, plot.width);
    const y1 = clip(drag.y - rect.top, plot.top, plot.height);
    const y2 = clip(event.clientY - rect.top, plot.top, plot.height);
    this.box.hidden = false;
    this.box.style.left = `${Math.min(x1, x2)}px`;
    this.box.style.top = `${Math.min(y1, y2)}px`;
    this.box.style.width = `${Math.abs(x2 - x1)}px`;
    this.box.style.height = `${Math.abs(y2 - y1)}px`;
  }

  private end_drag(event: PointerEvent, done: boolean): void {
    const { drag, layout, view } = this;
    this.box.hidden = true;
    if (!drag || drag.id !== event.pointerId || !drag.moved || !layout || !view) return;
    // The click that follows belongs to the drag.
    setTimeout(() => {
      this.drag = null;
    });
    if (drag.pan || !done) return;
    const rect = this.container.getBoundingClientRect();
    const { plot } = layout;
    const share = (v: number) => Math.min(1, Math.max(0, v));
    const fx = [drag.x, event.clientX].map((x) => share((x - rect.left - plot.left) / plot.width)) as [number, number];
    const fy = [drag.y, event.clientY].map((y) => share(1 - (y - rect.top - plot.top) / plot.height)) as [number, number];
    this.set_view({ x: brushed(view.x, fx[0], fx[1]), y: brushed(view.y, fy[0], fy[1]) });
  }
}

const kExportWidth = 1000;
const kExportHeight = 640;
