import { defineConfig } from "vite";
import { single_file } from "./single-file";

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
  plugins: [single_file()],
  test: { include: ["test/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
