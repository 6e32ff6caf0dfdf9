import { defineConfig } from 'vitest/config';

/** Two cores are what a small machine has; each fault test already runs several processes of its own. */
const WORKERS_MAX = 2;

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS_MAX,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts', 'test/tidy.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['contract', 'integration', 'fault', 'replay'].map((layer) => `test/${layer}/**/*.test.ts`),
          globalSetup: ['test/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
