import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { AIMS } from '../../../bench/aims.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** It takes about one minute on two idle cores. */
const RUN_MS_MAX = 6 * 60_000;

// A minute of both cores: its own command measures, `npm run test:all` shows that it does.
test.skipIf(process.env['LATCHKEY_LONG'] === undefined)(
  'the quick form of the bench measures everything and ends with one line of JSON',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['bench/main.ts', '--quick', '--json'], {
      cwd: ROOT,
      env: { ...process.env, TEMPORAL_ADDRESS: inject('temporalAddress') },
      timeout: RUN_MS_MAX,
    });
    const lines = stdout.trimEnd().split('\n');
    const { ratios } = JSON.parse(lines.at(-1) ?? '') as { ratios: Record<string, unknown> };
    expect(Object.keys(ratios)).toEqual(Object.keys(AIMS));
    expect(Object.values(ratios).filter((ratio) => !Number.isFinite(ratio))).toEqual([]);
  },
  RUN_MS_MAX,
);
