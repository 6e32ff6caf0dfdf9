import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { KINDS } from '../../drill/kinds.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** It takes about a minute on a machine that has nothing else to do. */
const DRILL_MS_MAX = 300_000;

test('docs/operations.md has a section for each kind of stuck call, with the very step that the drill takes', () => {
  const page = readFileSync(join(ROOT, 'docs/operations.md'), 'utf8');
  const sections = page.split(/^## /m).slice(1);
  expect(KINDS.length).toBe(8);
  for (const { code, step } of KINDS) {
    const section = sections.find((each) => each.split('\n')[0]?.includes(`\`${code}\``));
    expect(section, code).toContain(step);
  }
});

// A minute and a half of both cores: `npm run drill` and `npm run test:all` run it.
test.skipIf(process.env['LATCHKEY_LONG'] === undefined)(
  'eight kinds of stuck call are each named by latchkey calls --stuck, settled by the documented step, and run once',
  { timeout: DRILL_MS_MAX },
  async () => {
    const child = spawn(process.execPath, [join(ROOT, 'test/drill/main.ts'), '--json'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // It ends what it started.
    onTestFinished(() => void child.kill('SIGTERM'));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const last: unknown = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
    expect(last, errors).toEqual({ kinds: 8, named: 8, settled: 8, violations: 0 });
  },
);
