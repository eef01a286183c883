import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";
import { single_file } from "./single-file";
import { page_with } from "./test/synthetic";

// While developing: REPORT=report.json npm run dev
function sample_report(): Plugin {
  const file = process.env.REPORT;
  return {
    name: "sample-report",
    apply: "serve",
    transformIndexHtml: (html) => (file === undefined ? html : page_with(html, JSON.parse(readFileSync(file, "utf8")))),
  };
}

export default defineConfig({
  // Only ASCII comes out, so that the page survives whatever it is embedded in.
  esbuild: { charset: "ascii", legalComments: "none" },
  build: {
    target: "es2021",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
    rollupOptions: { output: { format: "iife", inlineDynamicImports: true } },
  },
  plugins: [sample_report(), single_file()],
  test: { include: ["test/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
