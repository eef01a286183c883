// The page: one state, and what is drawn from it.
import { RooflineChart } from "./chart";
import {
  ceiling_in_use,
  chart_model,
  facts_of,
  hidden_text,
  kLevelNames,
  levels_of,
  machines_of,
  precisions_of,
  type ChartModel,
  type ChartSettings,
} from "./chart-model";
import { column_of } from "./columns";
import { Controls, type Choices } from "./controls";
import { button, el } from "./dom";
import { Drawer } from "./drawer";
import { csv, file_stem, save } from "./export";
import { counted, share } from "./format";
import { header_element, subtitle_of, title_of } from "./header";
import type { Theme } from "./palette";
import type { Position, Report } from "./report";
import { filtered, kNoFilter, matcher, rows_of, sorted, type Filter, type Row } from "./rows";
import { KernelTable, type Sort } from "./table";
import { Tooltip } from "./tooltip";

type ThemeChoice = "auto" | Theme;

export class App {
  private readonly rows: Row[];
  private filter: Filter = kNoFilter;
  private sort: Sort = { key: "time", descending: true };
  private settings: ChartSettings;
  private theme: ThemeChoice = "auto";
  private shown: Row[] = [];
  private model: ChartModel | null = null;
  private opener: HTMLElement | "table" | null = null;

  private readonly main = el("main");
  private readonly chart_box = el("div", { class: "chart", tabindex: 0, role: "group", id: "chart" });
  private readonly description = el("p", { class: "unseen" });
  private readonly chart_note = el("p", { class: "faint", id: "chart-note" });
  private readonly theme_button: HTMLButtonElement;
  private readonly reset_button: HTMLButtonElement;
  private readonly tooltip = new Tooltip();
  private readonly table: KernelTable;
  private readonly drawer: Drawer;
  private readonly controls: Controls;
  private readonly chart: RooflineChart;
  private readonly dark = window.matchMedia("(prefers-color-scheme: dark)");

  constructor(
    private readonly page: HTMLElement,
    private readonly report: Report,
  ) {
    this.rows = rows_of(report);
    this.settings = { level: "dram", precision: null, ceiling: ceiling_in_use(report) };
    this.theme_button = button("", { class: "plain", id: "theme" }, () => this.next_theme());
    this.reset_button = button("Reset zoom", { class: "plain", id: "reset", disabled: true }, () => this.chart.reset());
    this.table = new KernelTable({
      sort: (key) => this.sort_by(key),
      pick: (row) => this.open(row, "table"),
      hover: (row) => this.chart.point_out(row),
    });
    this.drawer = new Drawer(() => this.closed());
    this.controls = new Controls(this.choices(), this.settings, {
      filter: (change) => this.change_filter(change),
      settings: (change) => this.change_settings(change),
    });
    this.build();
    this.chart = new RooflineChart(this.chart_box, {
      hover: (row, x, y) => this.hover(row, x, y),
      pick: (row) => this.open(row, this.chart_box),
      zoomed: (changed) => (this.reset_button.disabled = !changed),
    });
    this.listen();
    this.apply_theme();
    this.update(false);
  }

  // ------------------------------------------------------------ building

  private build(): void {
    document.title = `${title_of(this.report)} – roofline`;
    const head = header_element(this.report, this.rows, [this.theme_button], (id) => {
      const row = this.rows.find((r) => r.kernel.id === id);
      if (row) this.open(row, document.activeElement instanceof HTMLElement ? document.activeElement : null);
    });
    this.chart_box.append(this.tooltip.element);
    const save_buttons = el(
      "div",
      { class: "buttons" },
      button("+", { class: "plain", "aria-label": "Zoom in" }, () => this.chart.zoom(1 / 1.5)),
      button("−", { class: "plain", "aria-label": "Zoom out" }, () => this.chart.zoom(1.5)),
      this.reset_button,
      button("SVG", { class: "plain", "aria-label": "Save the chart as SVG" }, () => this.save_svg()),
      button("PNG", { class: "plain", "aria-label": "Save the chart as PNG" }, () => void this.save_png()),
    );
    const csv_button = button("CSV", { class: "plain", "aria-label": "Save the table as CSV" }, () =>
      save(`${file_stem(this.report)}.csv`, new Blob([csv(this.shown, this.report)], { type: "text/csv" })),
    );
    this.main.append(
      head,
      this.controls.filters,
      el(
        "section",
        { class: "chart-section", "aria-label": "Roofline chart" },
        el("div", { class: "bar-above" }, this.controls.chips, save_buttons),
        this.chart_box,
        this.description,
        this.chart_note,
        el(
          "p",
          { class: "faint help" },
          "Wheel, two fingers or + −: zoom · drag: zoom into a box · Shift and drag or arrow keys: move · double click or 0: all · area: share of the time",
        ),
      ),
      el(
        "section",
        { class: "table-section", "aria-label": "Kernels" },
        el("div", { class: "bar-above" }, el("h2", {}, "Kernels"), el("div", { class: "buttons" }, csv_button)),
        this.table.element,
      ),
    );
    this.page.replaceChildren(this.main, this.drawer.element);
  }

  private choices(): Choices {
    const positions = new Map<Position, number>();
    for (const { kernel } of this.rows) positions.set(kernel.position, (positions.get(kernel.position) ?? 0) + 1);
    const machines = machines_of(this.report, this.rows);
    const in_use = ceiling_in_use(this.report);
    const kinds = new Set([in_use, ...(machines[0] ?? this.report.machines[0])?.ceilings.map((c) => c.kind) ?? []]);
    const precisions = precisions_of(this.rows);
    return {
      levels: levels_of(this.rows),
      precisions: precisions.length > 1 ? precisions : [],
      ceilings: [...kinds],
      machines,
      positions,
      in_use,
    };
  }

  private listen(): void {
    this.dark.addEventListener("change", () => this.apply_theme());
    this.chart_box.addEventListener("keydown", (event) => {
      if (event.target === this.chart_box && this.chart.key(event)) event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.drawer.open) this.drawer.close();
      if (event.key === "/" && !(event.target instanceof HTMLInputElement) && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        document.getElementById("search")?.focus();
      }
    });
    const paper = window.matchMedia("print");
    paper.addEventListener("change", () => this.print(paper.matches));
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  // ------------------------------------------------------------ state

  private change_filter(change: Partial<Filter>): void {
    this.filter = { ...this.filter, ...change };
    this.update(change.machine === undefined);
  }

  private change_settings(change: Partial<ChartSettings>): void {
    this.settings = { ...this.settings, ...change };
    this.update(false);
    const selected = this.selected;
    if (selected && this.drawer.open) this.drawer.show(selected, this.report, this.settings);
  }

  private sort_by(key: string): void {
    const column = column_of(key);
    const descending = this.sort.key === key ? !this.sort.descending : column.numeric && key !== "number";
    this.sort = { key, descending };
    this.show_table();
  }

  private selected: Row | null = null;

  private update(keep_zoom: boolean): void {
    const all = this.filter.machine === null ? this.rows : this.rows.filter((r) => r.kernel.machine === this.filter.machine);
    this.shown = filtered(this.rows, this.filter);
    this.show_table();
    this.model = chart_model(this.report, all, this.shown, this.settings);
    this.chart.show(this.model, this.settings, this.actual_theme(), keep_zoom);
    this.controls.show(this.filter, matcher(this.filter.query).error, this.shown_text());
    this.describe();
  }

  private show_table(): void {
    const column = column_of(this.sort.key);
    this.shown = sorted(this.shown, (row) => column.value(row, this.settings), this.sort.descending);
    this.table.show(this.shown, this.settings, this.sort);
  }

  private shown_text(): string {
    const time = this.shown.reduce((sum, r) => sum + (r.kernel.time_share ?? 0), 0);
    if (this.shown.length === this.rows.length) return counted(this.rows.length, "kernel");
    return `${this.shown.length} of ${counted(this.rows.length, "kernel")}, ${share(time)} of the time`;
  }

  // For those who cannot see the picture: the roofs and the kernels with the most time.
  private describe(): void {
    const { model } = this;
    if (!model) return;
    this.chart_box.setAttribute("aria-label", `Roofline chart, ${kLevelNames[this.settings.level]}, ${counted(model.marks.length + model.strip.length, "mark")}`);
    const roofs = model.roofs.map((r) => r.label).join(", ");
    const top = model.marks.slice(0, 10).map((m) => `${m.row.label}: ${facts_of(m.row.kernel, this.settings)}`);
    this.description.textContent = `Roofs: ${roofs}. ${top.join(". ")}`;
    const notes = [hidden_text(model, this.settings)];
    if (model.ceiling === null)
      notes.push(model.machine === null ? "No machine is known, so there are no roofs: name one with --machine." : `This report holds no ${this.settings.ceiling} roofs.`);
    if (model.marks.some((m) => m.toward === "up") || model.strip.some((m) => m.unknown))
      notes.push("Open marks are bounds: FLOPs were not all counted.");
    if (model.marks.some((m) => m.toward === "left" || m.toward === "right"))
      notes.push("Open marks with an arrow to the side: the bytes of this level are a bound; the true intensity lies that way.");
    if (model.marks.some((m) => m.at !== this.settings.level))
      notes.push("Kernels marked (L2) keep their data in L2: they stand at their L2 intensity.");
    this.chart_note.textContent = notes.filter((n) => n !== "").join(" ");
  }

  // ------------------------------------------------------------ linking

  private hover(row: Row | null, x: number, y: number): void {
    this.table.highlight(row);
    if (row) this.tooltip.show(row, this.settings, x, y, this.chart_box.clientWidth, this.chart_box.clientHeight);
    else this.tooltip.hide();
  }

  private open(row: Row, from: HTMLElement | "table" | null): void {
    this.opener = from;
    this.selected = row;
    this.tooltip.hide();
    this.chart.select(row);
    this.table.select(row);
    if (from !== "table") this.table.reveal(row);
    this.drawer.show(row, this.report, this.settings);
    document.body.classList.add("with-drawer");
    // Over a whole small screen nothing behind it may take the focus.
    this.main.inert = window.matchMedia("(max-width: 719px)").matches;
    this.drawer.focus();
  }

  private closed(): void {
    document.body.classList.remove("with-drawer");
    this.main.inert = false;
    if (this.opener === "table") this.table.focus();
    else this.opener?.focus({ preventScroll: true });
    this.opener = null;
  }

  // ------------------------------------------------------------ theme and paper

  private actual_theme(): Theme {
    if (this.theme !== "auto") return this.theme;
    return this.dark.matches ? "dark" : "light";
  }

  private next_theme(): void {
    const order: readonly ThemeChoice[] = this.dark.matches ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
    this.theme = order[(order.indexOf(this.theme) + 1) % order.length] ?? "auto";
    this.apply_theme();
  }

  private apply_theme(): void {
    const theme = this.actual_theme();
    document.documentElement.dataset.theme = theme;
    this.theme_button.textContent = this.theme === "auto" ? "Theme: system" : `Theme: ${this.theme}`;
    this.chart.redraw(theme);
  }

  private print(on: boolean): void {
    const theme = on ? "light" : this.actual_theme();
    document.documentElement.dataset.theme = theme;
    document.documentElement.classList.toggle("printing", on);
    this.table.print(on);
    this.chart.redraw(theme);
  }

  // ------------------------------------------------------------ export

  private heading(): [string, string] {
    return [title_of(this.report), subtitle_of(this.report, this.rows)];
  }

  private save_svg(): void {
    save(`${file_stem(this.report)}.svg`, new Blob([this.chart.svg(...this.heading())], { type: "image/svg+xml" }));
  }

  private async save_png(): Promise<void> {
    save(`${file_stem(this.report)}.png`, await this.chart.png(...this.heading()));
  }
}
