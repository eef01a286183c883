import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { inlined } from "../single-file";
import { page_with } from "./synthetic";

const kPage = '<head><!-- content-security-policy --></head><script type="application/json" id="roofline-report"></script><!-- script -->';

describe("one file", () => {
  it("allows the one script and the one style by their hashes", () => {
    const out = inlined(kPage, "let a = '$&';", "p{}");
    const hash = createHash("sha256").update("let a = '$&';").digest("base64");
    expect(out).toContain(`script-src 'sha256-${hash}'`);
    expect(out).toContain("<script>let a = '$&';</script>");
    expect(out).toContain("default-src 'none'");
    expect(out).not.toContain("unsafe");
  });
  it("refuses a script that ends its own element, and a page without marks", () => {
    expect(() => inlined(kPage, "'</SCRIPT>'", "")).toThrow(/script/);
    expect(() => inlined("<p>", "", "")).toThrow(/must hold/);
  });
  it("no name leaves the data element", () => {
    const page = page_with(kPage, { name: "</script><script>$&" });
    expect(page).toContain("\\u003c/script\\u003e");
    expect(page.match(/<script/g)).toHaveLength(1);
  });
});
