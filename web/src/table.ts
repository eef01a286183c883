// The kernel table. Only the rows in sight are in the document, so that thousands of kernels cost what forty do.
import { kColumns, type Cell, type Column } from "./columns";
import type { ChartSettings } from "./chart-model";
import { absent, append, el } from "./dom";
import { icon } from "./palette";
import type { Row } from "./rows";

export interface TableEvents {
  sort: (key: string) => void;
  pick: (row: Row) => void;
  hover: (row: Row | null) => void;
}

export interface Sort {
  key: string;
  descending: boolean;
}

const kRowHeight = 33; // as in the style sheet
const kSpare = 8; // rows drawn beyond the edge of the view
const kMostPrinted = 300;

// Rows of a list that a scrolled view shows: [first, last).
export function window_of(count: number, top: number, height: number): { first: number; last: number } {
  const first = Math.min(Math.max(0, Math.floor(top / kRowHeight) - kSpare), Math.max(0, count - 1));
  const last = Math.min(count, Math.ceil((top + height) / kRowHeight) + kSpare);
  return { first, last: Math.max(first, last) };
}

function spacer(): HTMLTableRowElement {
  return el("tr", { class: "spacer", "aria-hidden": "true" }, el("td"));
}

export class KernelTable {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly head = el("tr");
  private readonly body = el("tbody");
  private readonly before = spacer();
  private readonly after = spacer();
  private readonly table: HTMLTableElement;
  private readonly empty = el("p", { class: "empty", hidden: true }, "No kernel matches the filter.");
  private rows: readonly Row[] = [];
  private settings: ChartSettings = { level: "dram", precision: null, ceiling: "datasheet" };
  private drawn = new Map<number, HTMLTableRowElement>(); // by index into rows
  private active = 0;
  private selected: Row | null = null;
  private printing = false;
  private frame = 0;

  constructor(private readonly events: TableEvents) {
    this.table = el("table", { role: "grid", "aria-label": "Kernels", class: "kernels" }, el("thead", {}, this.head), this.body);
    this.scroller = el("div", { class: "scroller", tabindex: -1 }, this.table);
    this.element = el("div", { class: "table" }, this.scroller, this.empty);
    this.scroller.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const index = this.index_at(event.target);
      if (index !== null) this.pick(index);
    });
    this.body.addEventListener("pointerover", (event) => {
      const index = this.index_at(event.target);
      this.events.hover(index === null ? null : (this.rows[index] ?? null));
    });
    this.body.addEventListener("pointerleave", () => this.events.hover(null));
    this.body.addEventListener("focusin", (event) => {
      const index = this.index_at(event.target);
      if (index !== null) this.set_active(index, false);
    });
    new ResizeObserver(() => this.schedule()).observe(this.scroller);
  }

  show(rows: readonly Row[], settings: ChartSettings, sort: Sort): void {
    const current = this.rows[this.active];
    this.rows = rows;
    this.settings = settings;
    this.active = Math.max(0, current ? rows.indexOf(current) : 0);
    this.table.setAttribute("aria-rowcount", String(rows.length + 1));
    this.empty.hidden = rows.length > 0;
    this.draw_head(sort);
    this.clear();
    this.draw();
  }

  select(row: Row | null): void {
    this.selected = row;
    for (const [index, tr] of this.drawn) this.mark(tr, index);
    if (row === null) return;
    const index = this.rows.indexOf(row);
    if (index >= 0) this.set_active(index, false);
  }

  // Brings a row into sight, without moving the focus.
  reveal(row: Row): void {
    const index = this.rows.indexOf(row);
    if (index >= 0) this.scroll_to(index);
  }

  highlight(row: Row | null): void {
    for (const [index, tr] of this.drawn) tr.classList.toggle("pointed", row !== null && this.rows[index] === row);
  }

  // Focus on the row that arrow keys moved to.
  focus(): void {
    this.scroll_to(this.active);
    this.draw();
    (this.drawn.get(this.active) ?? this.scroller).focus({ preventScroll: true });
  }

  // On paper there is nothing to scroll: all rows, up to a number that fits a few pages.
  print(on: boolean): void {
    this.printing = on;
    this.clear();
    this.draw();
  }

  // ------------------------------------------------------------ drawing

  private schedule(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  private clear(): void {
    this.drawn.clear();
    this.body.replaceChildren(this.before, this.after);
  }

  private draw_head(sort: Sort): void {
    this.head.replaceChildren(...kColumns.map((column) => this.head_cell(column, sort)));
  }

  private head_cell(column: Column, sort: Sort): HTMLElement {
    const sorted = column.key === sort.key;
    const order = sorted ? (sort.descending ? "descending" : "ascending") : "none";
    const button = el("button", { type: "button", title: column.hint || null, "data-sort": column.key }, column.title(this.settings));
    if (sorted) button.append(el("span", { class: "order", "aria-hidden": "true" }, sort.descending ? "▾" : "▴"));
    button.addEventListener("click", () => {
      this.events.sort(column.key);
      this.head.querySelector<HTMLElement>(`[data-sort="${column.key}"]`)?.focus();
    });
    return el("th", { scope: "col", class: this.class_of(column), "aria-sort": order }, button);
  }

  private class_of(column: Column): string {
    return [`c-${column.key}`, column.numeric ? "number" : "", column.wide ? "wide" : ""].filter((c) => c !== "").join(" ");
  }

  private draw(): void {
    const { first, last } = this.printing
      ? { first: 0, last: Math.min(this.rows.length, kMostPrinted) }
      : window_of(this.rows.length, this.scroller.scrollTop, this.scroller.clientHeight);
    for (const [index, tr] of this.drawn) {
      if (index >= first && index < last) continue;
      const focused = tr === document.activeElement;
      tr.remove();
      this.drawn.delete(index);
      if (focused) this.scroller.focus({ preventScroll: true });
    }
    for (let index = first; index < last; ++index) {
      if (this.drawn.has(index)) continue;
      const tr = this.row_element(index);
      let next: ChildNode = this.after;
      for (let later = index + 1; later < last; ++later) {
        const there = this.drawn.get(later);
        if (!there) continue;
        next = there;
        break;
      }
      this.body.insertBefore(tr, next);
      this.drawn.set(index, tr);
    }
    this.before.style.height = `${first * kRowHeight}px`;
    this.after.style.height = `${this.printing ? 0 : (this.rows.length - last) * kRowHeight}px`;
    this.element.dataset.more = this.printing && this.rows.length > last ? `${this.rows.length - last} more kernels are not printed.` : "";
  }

  private row_element(index: number): HTMLTableRowElement {
    const row = this.rows[index];
    const tr = el("tr", { "aria-rowindex": index + 2, "data-index": index });
    if (row) for (const column of kColumns) tr.append(this.cell_element(row, column));
    this.mark(tr, index);
    return tr;
  }

  private cell_element(row: Row, column: Column): HTMLElement {
    const cell: Cell = column.cell(row, this.settings);
    const td = el(column.key === "name" ? "th" : "td", { class: this.class_of(column), ...(column.key === "name" ? { scope: "row" } : {}) });
    if ("absent" in cell) {
      td.append(absent(cell.absent));
      return td;
    }
    if (cell.title !== undefined) td.title = cell.title;
    if (column.key === "name") {
      td.append(this.name_cell(row));
      return td;
    }
    if (column.key === "position") td.append(icon(row.kernel.position));
    append(td, el("span", { class: "text" }, cell.text));
    if (cell.bar !== undefined) {
      const bar = el("span", { class: "bar", "aria-hidden": "true" });
      bar.style.setProperty("--fill", `${(100 * cell.bar).toFixed(1)}%`);
      td.append(bar);
    }
    return td;
  }

  private name_cell(row: Row): HTMLElement {
    const look = row.kernel.look ? el("span", { class: "look", title: "Worth a look: enough to gain, and not done yet" }, "look") : null;
    const grid = row.grid === "" ? null : el("span", { class: "grid", title: "Grid" }, row.grid);
    return el("div", { class: "name" }, el("span", { class: "text", dir: "ltr" }, row.name), grid, look);
  }

  private mark(tr: HTMLTableRowElement, index: number): void {
    const chosen = this.selected !== null && this.rows[index] === this.selected;
    tr.setAttribute("aria-selected", String(chosen));
    tr.tabIndex = index === this.active ? 0 : -1;
  }

  // ------------------------------------------------------------ moving

  private index_at(target: EventTarget | null): number | null {
    const tr = target instanceof Element ? target.closest("tr[data-index]") : null;
    return tr instanceof HTMLElement ? Number(tr.dataset.index) : null;
  }

  private scroll_to(index: number): void {
    const head = this.head.offsetHeight;
    const top = index * kRowHeight;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + kRowHeight > scrollTop + clientHeight - head) this.scroller.scrollTop = top + kRowHeight - clientHeight + head;
  }

  private set_active(index: number, focus: boolean): void {
    const old = this.drawn.get(this.active);
    this.active = index;
    if (old) old.tabIndex = -1;
    if (focus) this.focus();
    const now = this.drawn.get(index);
    if (now) now.tabIndex = 0;
  }

  private pick(index: number): void {
    const row = this.rows[index];
    if (!row) return;
    this.set_active(index, false);
    this.events.pick(row);
  }

  private key(event: KeyboardEvent): void {
    if (event.target instanceof Element && event.target.closest("thead")) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / kRowHeight) - 2);
    const last = this.rows.length - 1;
    const moves: Record<string, number> = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: last,
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(this.active);
      return;
    }
    const to = moves[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.set_active(Math.min(last, Math.max(0, to)), true);
  }
}
