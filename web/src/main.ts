import "./style.css";
import { App } from "./app";
import { el } from "./dom";
import { read_report, ReportError } from "./report";

function start(): void {
  const page = document.getElementById("page");
  const data = document.getElementById("roofline-report");
  if (!page) return;
  try {
    const report = read_report(data?.textContent ?? "");
    // The text is no longer needed and may be large.
    data?.replaceChildren();
    new App(page, report);
    performance.mark("roofline-ready");
  } catch (error) {
    if (!(error instanceof ReportError)) throw error;
    page.replaceChildren(el("p", { class: "problem", role: "alert" }, error.message));
  }
}

start();
