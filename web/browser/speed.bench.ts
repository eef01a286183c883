// How long a report of 5,000 kernels takes to open, and from an action to the paint that shows it; and how much processor
// time the page's main thread takes for it, which depends less on what else the machine does. Prints figures and judges
// nothing.
import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { synthetic } from "../test/synthetic";
import { clean_up, launch, visit, write_page } from "./harness";

const kKernels = Number(process.env.KERNELS ?? 5000);
const kRounds = Number(process.env.ROUNDS ?? 30);

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  clean_up();
});

function line(what: string, times: number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (q: number) => (sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? NaN).toFixed(0);
  console.log(`${what.padEnd(34)} n ${String(sorted.length).padStart(3)}  median ${at(0.5).padStart(5)} ms  p95 ${at(0.95).padStart(5)} ms  most ${at(1).padStart(5)} ms`);
}

async function thread_ms(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return 1000 * (metrics.find((m) => m.name === "TaskDuration")?.value ?? NaN);
}

async function metered(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return session;
}

// Runs an action in the page and resolves with the milliseconds until the frame after its effect was painted.
type Action = "filter" | "position" | "wheel" | "sort";
function timed(page: Page, action: Action, round: number): Promise<number> {
  return page.evaluate(
    async ([what, n]) => {
      // Two frames: the first draws what was asked for, the second begins once it is on screen.
      const painted = () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));
      const shown = document.querySelector(".shown")!;
      const changed = () =>
        new Promise<void>((done) => {
          const watch = new MutationObserver(() => {
            watch.disconnect();
            done();
          });
          watch.observe(shown, { childList: true, characterData: true, subtree: true });
        });
      await new Promise((done) => setTimeout(done, 100));
      const begin = performance.now();
      if (what === "filter") {
        const box = document.getElementById("search") as HTMLInputElement;
        const effect = changed();
        box.value = n % 2 === 0 ? ["gemm", "kernel_1", "void", "softmax_kernel float"][(n / 2) % 4]! : "";
        box.dispatchEvent(new Event("input", { bubbles: true }));
        await effect;
      } else if (what === "position") {
        const effect = changed();
        document.querySelector<HTMLElement>('[data-position="memory-suboptimal"]')!.click();
        await effect;
      } else if (what === "sort") {
        document.querySelector<HTMLElement>(["th.c-fraction button", "th.c-name button", "th.c-time button"][n % 3]!)!.click();
      } else {
        const chart = document.getElementById("chart")!;
        const box = chart.getBoundingClientRect();
        const out = n % 12 >= 6;
        chart.dispatchEvent(
          new WheelEvent("wheel", { deltaY: out ? 120 : -120, clientX: box.left + box.width * 0.55, clientY: box.top + box.height * 0.5, bubbles: true, cancelable: true }),
        );
      }
      await painted();
      return performance.now() - begin;
    },
    [action, round] as const,
  );
}

describe("speed", () => {
  it("of opening and of acting", async () => {
    const path = write_page(synthetic({ kernels: kKernels }));
    console.log(`${kKernels} kernels, ${(statSync(path).size / 1e6).toFixed(1)} MB`);
    const ready: number[] = [];
    const paint: number[] = [];
    const thread: number[] = [];
    for (let i = 0; i < 7; ++i) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
      const fresh = await context.newPage();
      const meter = await metered(fresh);
      await fresh.goto(pathToFileURL(path).href);
      const times = await fresh.evaluate(async () => {
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        return [
          performance.getEntriesByName("roofline-ready")[0]?.startTime ?? NaN,
          performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
        ];
      });
      ready.push(times[0] ?? NaN);
      paint.push(times[1] ?? NaN);
      thread.push(await thread_ms(meter));
      await context.close();
    }
    line("open: page built", ready);
    line("open: first paint", paint);
    line("open: main thread", thread);
    const { page, close } = await visit(browser, path);
    const session = await metered(page);
    for (const action of ["filter", "position", "wheel", "sort"] as const) {
      const times: number[] = [];
      const busy: number[] = [];
      for (let i = 0; i < kRounds; ++i) {
        const before = await thread_ms(session);
        times.push(await timed(page, action, i));
        busy.push((await thread_ms(session)) - before);
      }
      line(`${action} to next paint`, times);
      line(`${action}: main thread`, busy);
    }
    await close();
  });
});
