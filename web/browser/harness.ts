// The built page in Debian's Chromium. From the environment:
//   ROOFLINE_PAGE       the built page (default: that of build/release)
//   ROOFLINE_PROGRAM    the program, for reports of real inputs (default: that of build/release)
//   ROOFLINE_ARTIFACTS  folder for screenshots (default: beside the page)
//   CHROMIUM            the browser (default: the usual names)
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { page_with } from "../test/synthetic";

const kWeb = dirname(dirname(fileURLToPath(import.meta.url)));
export const kRoot = dirname(kWeb);
const kBuild = join(kRoot, "build", "release");

const page_file = process.env.ROOFLINE_PAGE ?? join(kBuild, "web", "roofline-page.html");
export const kProgram = process.env.ROOFLINE_PROGRAM ?? join(kBuild, "roofline");
const artifacts = process.env.ROOFLINE_ARTIFACTS ?? join(dirname(page_file), "screenshots");

function browser_path(): string {
  const named = process.env.CHROMIUM;
  const usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  const found = named ?? usual.find((path) => existsSync(path));
  if (!found) throw new Error(`no Chromium: none of ${usual.join(", ")}; name one in CHROMIUM`);
  return found;
}

// Root may not use Chromium's sandbox, and neither may a container without user namespaces.
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: browser_path(),
    args: ["--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--no-sandbox"],
  });
}

const scratch = mkdtempSync(join(tmpdir(), "roofline-page-"));
export function clean_up(): void {
  rmSync(scratch, { recursive: true, force: true });
}

let files = 0;
export function write_page(report: { [key: string]: unknown }): string {
  const path = join(scratch, `report-${++files}.html`);
  writeFileSync(path, page_with(readFileSync(page_file, "utf8"), report));
  return path;
}

// What the program itself writes.
export function program_page(...args: string[]): string {
  const path = join(scratch, `program-${++files}.html`);
  execFileSync(kProgram, [...args, "-o", path], { cwd: kRoot });
  return path;
}
export function program_json(...args: string[]): { [key: string]: unknown } {
  return JSON.parse(execFileSync(kProgram, [...args, "--json"], { cwd: kRoot, maxBuffer: 1 << 28 }).toString());
}

export interface Visit {
  page: Page;
  context: BrowserContext;
  trouble: string[]; // console messages, errors, requests and violations of the content policy
  close: () => Promise<void>;
}

export async function visit(browser: Browser, path: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const trouble: string[] = [];
  const url = pathToFileURL(resolve(path)).href;
  page.on("console", (message) => trouble.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => trouble.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    trouble.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url && !/^(blob|data):/.test(request.url())) trouble.push(`request: ${request.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
    );
  });
  await page.goto(url);
  await page.waitForSelector("table.kernels, .problem");
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { page, context, trouble, close: () => context.close() };
}

export async function screenshot(page: Page, name: string, fullPage = false): Promise<void> {
  mkdirSync(artifacts, { recursive: true });
  await page.screenshot({ path: join(artifacts, `${name}.png`), fullPage });
}
export function artifact(name: string): string {
  mkdirSync(artifacts, { recursive: true });
  return join(artifacts, name);
}
