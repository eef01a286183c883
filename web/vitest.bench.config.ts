import { defineConfig } from "vitest/config";

// How long the page takes; see browser/speed.bench.ts.
export default defineConfig({
  test: { include: ["browser/**/*.bench.ts"], environment: "node", testTimeout: 300_000, hookTimeout: 60_000, fileParallelism: false },
});
