// What appears beside the pointer on the chart: text only.
import { facts_of, type ChartSettings } from "./chart-model";
import { el } from "./dom";
import { cut_middle, printable } from "./format";
import type { Row } from "./rows";

const kLongestName = 240;

export class Tooltip {
  readonly element = el("div", { class: "tooltip", role: "tooltip", hidden: true });

  // At pixels of the chart's container.
  show(row: Row, settings: ChartSettings, x: number, y: number, width: number, height: number): void {
    this.element.replaceChildren(
      el("strong", { dir: "ltr" }, `${row.number} ${cut_middle(printable(row.kernel.full_name || row.kernel.name), kLongestName)}`),
      el("span", {}, facts_of(row.kernel, settings)),
    );
    this.element.hidden = false;
    const gap = 14;
    const [own_width, own_height] = [this.element.offsetWidth, this.element.offsetHeight];
    const left = x + gap + own_width > width ? Math.max(0, x - gap - own_width) : x + gap;
    const top = y + gap + own_height > height ? Math.max(0, y - gap - own_height) : y + gap;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }

  hide(): void {
    this.element.hidden = true;
  }
}
