import { defineConfig } from "vitest/config";

// The built page in a real browser; see browser/harness.ts for what must be there.
export default defineConfig({
  test: { include: ["browser/**/*.test.ts"], environment: "node", testTimeout: 60_000, hookTimeout: 60_000, fileParallelism: false },
});
