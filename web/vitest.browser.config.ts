import { defineConfig } from "vitest/config";

// The built page in a real browser; see browser/harness.ts for what must be there.
export default defineConfig({
  test: {
    include: ["browser/**/*.test.ts"],
    environment: "node",
    testTimeout: 120_000,
    hookTimeout: 60_000,
    fileParallelism: false,
    expect: { poll: { timeout: 20_000, interval: 20 } }, // a busy machine is slow, not wrong
  },
});
