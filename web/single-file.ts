// Puts script and style into the page itself, and their hashes into its Content-Security-Policy: nothing else may run or
// load, whatever a report holds.
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const kPolicyMark = "<!-- content-security-policy -->";
const kScriptMark = "<!-- script -->";

function hash_of(text: string): string {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

export function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hash_of(script)}`,
    `style-src ${hash_of(style)}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

// Text that would end the element early.
function refuse_end_tag(text: string, tag: string): void {
  if (text.toLowerCase().includes(`</${tag}`)) throw new Error(`the built page holds </${tag}> inside its <${tag}>`);
}

// `html` as written by hand: with the marks, without any reference to built files.
export function inlined(html: string, script: string, style: string): string {
  for (const mark of [kPolicyMark, kScriptMark])
    if (html.split(mark).length !== 2) throw new Error(`index.html must hold ${mark} once`);
  refuse_end_tag(script, "script");
  refuse_end_tag(style, "style");
  // Functions, because "$&" in a replacement text would be expanded.
  return html
    .replace(
      kPolicyMark,
      () => `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">\n<style>${style}</style>`,
    )
    .replace(kScriptMark, () => `<script>${script}</script>`);
}

export function single_file(): Plugin {
  return {
    name: "single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_options, bundle) {
      let script = "";
      let style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code.trim();
        else if (name.endsWith(".css")) style += String(file.source).trim();
        else continue;
        delete bundle[name];
      }
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
        const own = String(file.source)
          .replace(/\s*<script type="module"[^>]*><\/script>/, "")
          .replace(/\s*<link rel="stylesheet"[^>]*>/, "");
        file.source = inlined(own, script, style);
      }
    },
  };
}
