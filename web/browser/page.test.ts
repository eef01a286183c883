import { readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layout_of, mark_spot } from "../src/chart-layout";
import { ceiling_in_use, chart_model } from "../src/chart-model";
import { read_report } from "../src/report";
import { rows_of, type Row } from "../src/rows";
import { kHostile, synthetic } from "../test/synthetic";
import { artifact, clean_up, launch, program_json, program_page, screenshot, visit, write_page, type Visit } from "./harness";

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  clean_up();
});

async function on(path: string, options: Parameters<typeof visit>[2], look: (visit: Visit) => Promise<void>): Promise<void> {
  const it = await visit(browser, path, options);
  try {
    await look(it);
    expect(it.trouble).toEqual([]);
  } finally {
    await it.close();
  }
}

const kExample = "examples/llama3-8b-decode-h100.md";
const kMadeUp = synthetic({ kernels: 60, at_clock: true });
const made_up = () => write_page(kMadeUp);
const names = (page: Page) => page.locator("tbody tr[data-index] .name .text").allTextContents();
const frames = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// Rests the pointer on the mark that is drawn last, and so on top of all others.
async function point_at_mark(page: Page, report: { [key: string]: unknown }): Promise<{ row: Row; x: number; y: number; text: string }> {
  const box = (await page.locator("#chart .canvas").boundingBox())!;
  const read = read_report(JSON.stringify(report));
  const rows = rows_of(read);
  const model = chart_model(read, rows, rows, { level: "dram", precision: null, ceiling: ceiling_in_use(read) });
  const mark = model.marks[model.marks.length - 1]!;
  const spot = mark_spot(layout_of(box.width, box.height, model, 0), model.home, mark);
  const [x, y] = [box.x + spot.x, box.y + spot.y];
  await page.mouse.move(x - 3, y - 3);
  await page.mouse.move(x, y);
  const tip = page.locator(".tooltip");
  await tip.waitFor({ state: "visible", timeout: 10_000 });
  return { row: mark.row, x, y, text: (await tip.textContent()) ?? "" };
}

describe("a report of the program", () => {
  it("opens from a file, without a word on the console and without a request, and shows the report's own numbers", async () => {
    const report = program_json("report", kExample);
    const total = report.total as { fraction: number };
    const kernels = report.kernels as { name: string; time_s: number }[];
    await on(program_page("report", kExample), {}, async ({ page }) => {
      const shown = (await page.locator("#one-number").textContent()) ?? "";
      expect(shown).toBe(`${Math.round(100 * total.fraction)}%`);
      const by_time = [...kernels].sort((a, b) => b.time_s - a.time_s).map((k) => k.name);
      expect(await names(page)).toEqual(by_time);
      expect(await page.title()).toContain("llama3-8b-decode-h100.md");
      await screenshot(page, "decode-light");
    });
  });
  it("never shows a lower bound as exact", async () => {
    await on(made_up(), {}, async ({ page }) => {
      expect(await page.locator("#one-number").textContent()).toBe("≥ 61%");
      expect(await page.locator(".one .detail").textContent()).toBe("of the roof, over the 95.7% of the time that could be placed, at most 70%");
      const bounds = await page.locator("tbody tr[data-index] .c-fraction .text").allTextContents();
      expect(bounds.filter((t) => t.startsWith("≥ ")).length).toBeGreaterThan(0);
    });
  });
  it("is also written for one kernel and for a model", async () => {
    await on(program_page("explain", kExample, "--kernel", "attention"), {}, async ({ page }) => {
      expect(await names(page)).toEqual(["attention"]);
    });
    await on(program_page("model", "llama-3-8b", "--machine", "h100", "--batch", "32", "--context", "2048"), {}, async ({ page }) => {
      expect(await page.locator("tbody tr[data-index]").count()).toBeGreaterThan(5);
      expect(await page.locator("#one-number").textContent()).toMatch(/%$/);
    });
  });
});

describe("table", () => {
  it("filters by words, by position and by share", async () => {
    await on(made_up(), {}, async ({ page }) => {
      await page.fill("#search", "gemm");
      await expect.poll(() => page.locator(".shown").textContent()).toMatch(/^5 of 60 kernels/);
      expect((await names(page)).every((n) => n.startsWith("gemm"))).toBe(true);
      await page.fill("#search", "no such kernel");
      await expect.poll(() => page.locator(".empty").isVisible()).toBe(true);
      await page.click("text=Clear filters");
      const chip = page.locator('[data-position="latency-bound"]');
      const count = Number(await chip.locator(".count").textContent());
      await chip.click();
      expect(await chip.getAttribute("aria-pressed")).toBe("true");
      expect(await page.locator(".shown").textContent()).toMatch(new RegExp(`^${count} of 60`));
      await chip.click();
      await page.locator("#least-share").focus();
      for (let i = 0; i < 7; ++i) await page.keyboard.press("ArrowRight");
      await expect.poll(() => page.locator(".shown").textContent()).toMatch(/of 60 kernels/);
      const shares = await page.locator("tbody tr[data-index] .c-share .text").allTextContents();
      expect(shares.length).toBeGreaterThan(0);
      for (const s of shares) expect(parseFloat(s)).toBeGreaterThanOrEqual(2);
    });
  });
  it("tells a broken expression", async () => {
    await on(made_up(), {}, async ({ page }) => {
      await page.fill("#search", "/(/");
      await expect.poll(() => page.locator(".error").isVisible()).toBe(true);
    });
  });
  it("sorts both ways and says so", async () => {
    await on(made_up(), {}, async ({ page }) => {
      const head = page.locator("th.c-fraction");
      const values = async () => {
        const all = await page.locator("tbody tr[data-index] .c-fraction").allTextContents();
        return all.map((t) => parseFloat(t.replace("≥ ", ""))).filter((v) => !Number.isNaN(v));
      };
      await head.locator("button").click();
      expect(await head.getAttribute("aria-sort")).toBe("descending");
      const down = await values();
      expect(down).toEqual([...down].sort((a, b) => b - a));
      await head.locator("button").click();
      expect(await head.getAttribute("aria-sort")).toBe("ascending");
      const up = await values();
      expect(up).toEqual([...up].sort((a, b) => a - b));
    });
  });
  it("shows what is not known as a dash with its reason", async () => {
    await on(made_up(), {}, async ({ page }) => {
      await page.click('[data-position="unplaced"]');
      const cell = page.locator("tbody tr[data-index] .c-flops .absent").first();
      expect(await cell.textContent()).toBe("–");
      expect(await cell.getAttribute("title")).toBe("no operation counters were collected");
    });
  });
});

describe("chart", () => {
  it("tells about the mark under the pointer, and opens it with its row", async () => {
    await on(made_up(), {}, async ({ page }) => {
      const mark = await point_at_mark(page, kMadeUp);
      expect(mark.text).toContain(`${mark.row.number} ${mark.row.kernel.full_name}`);
      expect(mark.text).toMatch(/FLOP\/B .* roof/);
      await screenshot(page, "hover");
      await page.mouse.click(mark.x, mark.y);
      await page.waitForSelector(".drawer:not([hidden])");
      const name = (await page.locator("#drawer-title").textContent()) ?? "?";
      expect(name).toBe(mark.row.label);
      const chosen = page.locator('tr[aria-selected="true"] .name .text');
      expect(await chosen.textContent()).toBe(mark.row.name);
      await screenshot(page, "drawer");
      await page.keyboard.press("Escape");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("chart");
    });
  });
  it("zooms by wheel, by box and by key, and resets", async () => {
    await on(made_up(), {}, async ({ page }) => {
      const reset = page.locator("#reset");
      const box = (await page.locator("#chart").boundingBox())!;
      const [x, y] = [box.x + box.width * 0.6, box.y + box.height * 0.4];
      const picture = () => page.locator("#chart").screenshot();
      const first = await picture();
      expect(await reset.isEnabled()).toBe(false);
      await page.mouse.move(x, y);
      await page.mouse.wheel(0, -240);
      await expect.poll(() => reset.isEnabled()).toBe(true);
      expect(first.equals(await picture())).toBe(false);
      await reset.click();
      await expect.poll(() => reset.isEnabled()).toBe(false);
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 150, y + 120, { steps: 4 });
      expect(await page.locator(".brush").isVisible()).toBe(true);
      await page.mouse.up();
      await expect.poll(() => reset.isEnabled()).toBe(true);
      expect(await page.locator(".drawer").isVisible()).toBe(false);
      await page.locator("#chart").focus();
      await page.keyboard.press("0");
      await expect.poll(() => reset.isEnabled()).toBe(false);
      await page.keyboard.press("+");
      await expect.poll(() => reset.isEnabled()).toBe(true);
    });
  });
  it("switches level, precision and ceiling", async () => {
    await on(made_up(), {}, async ({ page }) => {
      const before = await page.locator("#chart").screenshot();
      const intensity = () => page.locator("tbody tr[data-index] .c-intensity").first().textContent();
      const at_dram = await intensity();
      await page.selectOption("#level", "l2");
      expect(await intensity()).not.toBe(at_dram);
      expect(await page.locator("th.c-bytes").textContent()).toContain("L2");
      await frames(page);
      expect(before.equals(await page.locator("#chart").screenshot())).toBe(false);
      const fraction = () => page.locator("tbody tr[data-index] .c-fraction .text").first().textContent();
      const at_clock = await fraction();
      await page.selectOption("#ceiling", "datasheet");
      expect(await fraction()).not.toBe(at_clock);
      await page.selectOption("#precision", "bf16.tensor");
      expect(await page.locator("#chart-note").textContent()).toContain("without counted bf16.tensor operations");
    });
  });
  it("saves itself and the table", async () => {
    await on(write_page(synthetic({ kernels: 24, names: kHostile })), {}, async ({ page }) => {
      const saved = async (label: string) => {
        const [download] = await Promise.all([page.waitForEvent("download"), page.click(`[aria-label="${label}"]`)]);
        const path = artifact(`saved-${download.suggestedFilename()}`);
        await download.saveAs(path);
        return path;
      };
      const svg_path = await saved("Save the chart as SVG");
      const svg = readFileSync(svg_path, "utf8");
      expect(svg).toMatch(/^<svg /);
      expect(svg).toContain("bf16.tensor");
      expect(svg).not.toMatch(/<(script|img|foreignObject)/i);
      // A viewer of its own: the policy of the report forbids even to look at another document's styles.
      const viewer = await page.context().newPage();
      await viewer.goto(pathToFileURL(svg_path).href);
      expect(await viewer.evaluate(() => [document.documentElement.nodeName, document.getElementsByTagName("parsererror").length])).toEqual(["svg", 0]);
      await screenshot(viewer, "saved-chart");
      await viewer.close();
      const png = await saved("Save the chart as PNG");
      expect(readFileSync(png).subarray(1, 4).toString()).toBe("PNG");
      expect(statSync(png).size).toBeGreaterThan(20_000);
      const table = readFileSync(await saved("Save the table as CSV"), "utf8");
      expect(table.split("\r\n")[0]).toMatch(/^id,input,machine/);
      expect(table).toContain("'@SUM(1+1)");
      expect(table).not.toMatch(/(^|,)"?=cmd/m);
    });
  });
});

describe("hostile names", () => {
  it("stay text everywhere", async () => {
    const report = synthetic({ kernels: kHostile.length * 2, names: kHostile });
    await on(write_page(report), {}, async ({ page }) => {
      const broken = () => page.evaluate(() => ({ global: (window as { broken?: unknown }).broken, images: document.images.length, scripts: document.scripts.length }));
      const rows = await page.locator("tbody tr[data-index]").count();
      expect(rows).toBe(kHostile.length * 2);
      for (let i = 0; i < rows; ++i) {
        await page.locator(`tbody tr[data-index="${i}"]`).click();
        expect(await page.locator(".drawer").isVisible()).toBe(true);
      }
      await page.keyboard.press("Escape");
      const mark = await point_at_mark(page, report);
      expect(mark.text.length).toBeLessThan(700);
      await screenshot(page, "hostile");
      await page.fill("#search", "<img");
      await expect.poll(() => page.locator(".shown").textContent()).toMatch(/^2 of/);
      expect(await broken()).toEqual({ global: undefined, images: 0, scripts: 2 });
      expect((await names(page))[0]).not.toMatch(/[\u202e\u0000-\u001f]/);
    });
  });
  it("run nothing even where markup does get into the page", async () => {
    const it = await visit(browser, made_up());
    await it.page.evaluate(() => {
      const box = document.createElement("div");
      box.innerHTML = '<img src="x" onerror="window.broken=1"><a href="javascript:window.broken=2">x</a>';
      document.body.append(box);
      box.querySelector("a")?.click();
      const script = document.createElement("script");
      script.textContent = "window.broken=3";
      document.body.append(script);
    });
    await frames(it.page);
    await it.page.waitForTimeout(200);
    expect(await it.page.evaluate(() => (window as { broken?: unknown }).broken)).toBeUndefined();
    expect(it.trouble.some((t) => t.includes("policy: script-src"))).toBe(true);
    await it.close();
  });
});

describe("keyboard", () => {
  it("reaches everything: search, table, drawer and back", async () => {
    await on(made_up(), {}, async ({ page }) => {
      await page.keyboard.press("/");
      expect(await page.evaluate(() => document.activeElement?.id)).toBe("search");
      const stops: string[] = [];
      for (let i = 0; i < 60; ++i) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const e = document.activeElement;
          return e?.id || e?.getAttribute("data-position") || (e?.matches("tr[data-index]") ? "row" : (e?.getAttribute("data-sort") ?? e?.textContent ?? ""));
        });
        stops.push(at);
        if (at === "row") break;
      }
      for (const stop of ["least-share", "level", "precision", "ceiling", "latency-bound", "chart", "name", "row"]) expect(stops).toContain(stop);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.index)).toBe("2");
      const name = (await names(page))[2];
      await page.keyboard.press("Enter");
      expect(await page.locator("#drawer-title").textContent()).toBe(name);
      expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toContain("Close");
      await page.keyboard.press("Escape");
      expect(await page.locator(".drawer").isVisible()).toBe(false);
      expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.index)).toBe("2");
      await page.keyboard.press("End");
      expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.index)).toBe("59");
      await page.keyboard.press("PageUp");
      await page.keyboard.press("Home");
      expect(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.index)).toBe("0");
    });
  });
});

describe("appearance", () => {
  const paper = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  it("follows the system's theme and the button", async () => {
    await on(made_up(), { colorScheme: "dark" }, async ({ page }) => {
      expect(await paper(page)).toBe("rgb(13, 17, 23)");
      await screenshot(page, "dark", true);
      await page.click("#theme");
      expect(await paper(page)).toBe("rgb(255, 255, 255)");
      await page.click("#theme");
      expect(await paper(page)).toBe("rgb(13, 17, 23)");
      await page.emulateMedia({ colorScheme: "light" });
      expect(await paper(page)).toBe("rgb(13, 17, 23)");
    });
  });
  it("fits a phone", async () => {
    await on(made_up(), { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }, async ({ page }) => {
      const width = () => page.evaluate(() => document.documentElement.scrollWidth);
      expect(await width()).toBeLessThanOrEqual(360);
      await screenshot(page, "phone", true);
      await page.locator("tbody tr[data-index]").first().tap();
      await page.waitForSelector(".drawer:not([hidden])");
      expect(await width()).toBeLessThanOrEqual(360);
      await screenshot(page, "phone-drawer");
      await page.locator(".close").tap();
      expect(await page.locator(".drawer").isVisible()).toBe(false);
    });
  });
  it("zooms under two fingers, and leaves one to the page", async () => {
    await on(made_up(), { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async ({ page, context }) => {
      await page.locator("#chart").scrollIntoViewIfNeeded();
      const session = await context.newCDPSession(page);
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", points: [number, number][]) =>
        session.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
      const box = (await page.locator("#chart").boundingBox())!;
      const [x, y] = [box.x + 0.65 * box.width, box.y + 0.5 * box.height];
      const zoomed = () => page.locator("#reset").isEnabled();
      const picture = () => page.locator("#chart .canvas").screenshot();
      const home = await picture();
      await touch("touchStart", [[x - 20, y]]);
      await touch("touchMove", [[x - 60, y]]);
      await touch("touchEnd", []);
      await frames(page);
      expect(await zoomed()).toBe(false);
      await touch("touchStart", [[x - 20, y], [x + 20, y]]);
      for (const apart of [30, 45, 60]) await touch("touchMove", [[x - apart, y], [x + apart, y]]);
      await touch("touchEnd", []);
      await frames(page);
      expect(await zoomed()).toBe(true);
      const near = await picture();
      expect(near.equals(home)).toBe(false);
      await screenshot(page, "phone-pinched");
      // The page itself stays as large as it was.
      expect(await page.evaluate(() => window.visualViewport?.scale)).toBe(1);
      // Two fingers that keep their distance move it.
      await touch("touchStart", [[x - 30, y], [x + 30, y]]);
      await touch("touchMove", [[x - 10, y + 20], [x + 50, y + 20]]);
      await touch("touchEnd", []);
      await frames(page);
      expect((await picture()).equals(near)).toBe(false);
      // And back: as far in as out.
      await page.locator("#reset").tap();
      await frames(page);
      expect((await picture()).equals(home)).toBe(true);
    });
  });
  it("has room for the numbers at its axes on a phone", async () => {
    await on(made_up(), { viewport: { width: 390, height: 844 } }, async ({ page }) => {
      const widths = await page.evaluate(() => {
        const font = "11px 'Segoe UI', Roboto, Helvetica, Arial, 'DejaVu Sans', sans-serif";
        const context = document.createElement("canvas").getContext("2d")!;
        context.font = font;
        return { rate: context.measureText("100 TF/s").width, share: context.measureText("100%").width };
      });
      const read = read_report(JSON.stringify(kMadeUp));
      const rows = rows_of(read);
      const model = chart_model(read, rows, rows, { level: "dram", precision: null, ceiling: ceiling_in_use(read) });
      const { plot, strip } = layout_of(386, 400, model, 0);
      expect(strip!.left - 5 - widths.share).toBeGreaterThanOrEqual(0);
      expect(plot.left - 6 - widths.rate).toBeGreaterThanOrEqual(strip!.left + strip!.width);
      expect(layout_of(386, 400, { ...model, strip: [] }, 0).plot.left - 6 - widths.rate).toBeGreaterThanOrEqual(0);
    });
  });
  it("prints light, with all rows and without controls", async () => {
    await on(made_up(), { colorScheme: "dark" }, async ({ page }) => {
      await page.pdf({ path: artifact("printed.pdf"), format: "A4" });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      await frames(page);
      expect(await paper(page)).toBe("rgb(255, 255, 255)");
      expect(await page.locator(".filters").isVisible()).toBe(false);
      expect(await page.locator("tbody tr[data-index]").count()).toBe(60);
      await page.setViewportSize({ width: 718, height: 1000 });
      await frames(page);
      await screenshot(page, "print", true);
      await page.emulateMedia({ media: "screen", colorScheme: "dark" });
      await frames(page);
      expect(await paper(page)).toBe("rgb(13, 17, 23)");
    });
  });
});

describe("size", () => {
  it("keeps 5,000 kernels usable with a few dozen rows in the document", async () => {
    await on(write_page(synthetic({ kernels: 5000 })), {}, async ({ page }) => {
      expect(await page.locator("table.kernels").getAttribute("aria-rowcount")).toBe("5001");
      expect(await page.locator("tbody tr").count()).toBeLessThan(80);
      await page.locator(".scroller").evaluate((e) => (e.scrollTop = e.scrollHeight));
      await expect.poll(() => page.locator('tr[data-index="4999"]').isVisible()).toBe(true);
      await page.fill("#search", "kernel_4999");
      await expect.poll(() => names(page)).toEqual(["scan_kernel_4999".replace("scan", "attention")]);
      await page.fill("#search", "");
      await expect.poll(() => page.locator(".shown").textContent()).toBe("5000 kernels");
      await screenshot(page, "5000-kernels");
    });
  });
});

describe("odd reports", () => {
  it("an empty one, one without machines, and what is none", async () => {
    await on(write_page({ ...synthetic({ kernels: 1 }), kernels: [] }), {}, async ({ page }) => {
      expect(await page.locator(".empty").isVisible()).toBe(true);
    });
    await on(write_page({ ...synthetic({ kernels: 5 }), machines: [], total: {} }), {}, async ({ page }) => {
      expect(await page.locator("#one-number .absent").textContent()).toBe("–");
      expect(await page.locator("#chart-note").textContent()).toContain("--machine");
    });
    await on(write_page({ schema: "other" }), {}, async ({ page }) => {
      expect(await page.locator(".problem").textContent()).toContain("roofline/report/1");
    });
  });
});
