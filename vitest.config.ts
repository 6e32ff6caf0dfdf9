import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

/**
 * Two cores are what a small machine has, and each fault test runs several processes of its own; but most of them wait
 * for most of their time: with three at once a whole run used 1.5 of them.
 */
const WORKERS_MAX = 3;

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: WORKERS_MAX,
    // The tests start hundreds of workers, agents and command lines; a kept compilation halves the CPU of such a start.
    // The folder is Node's own default name for it, so that nothing of ours is left behind.
    env: { NODE_COMPILE_CACHE: path.join(tmpdir(), 'node-compile-cache') },
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
        // What the unit tests say of the store on SQLite is said again on PostgreSQL, and what only it can show.
        extends: true,
        test: {
          name: 'postgres',
          include: [
            'test/postgres/**/*.test.ts',
            'test/unit/store/**/*.test.ts',
            'test/unit/endings/{interrupted-text,late-truth,rolled-back-store}.test.ts',
            'test/unit/activities-turn/overlapping-attempts.test.ts',
          ],
          exclude: ['test/unit/store/sqlite/**'],
          globalSetup: ['test/postgres-setup.ts'],
          setupFiles: ['test/fixtures/skip-without-postgres.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
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
