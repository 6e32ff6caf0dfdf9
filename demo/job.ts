/** The demo's job: a small repository whose tests fail, and the script by which the model mends it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = `/** The price of an order, in cents: from ten pieces on, a tenth is taken off. */
export function price(pieces, centsEach) {
  const full = pieces * centsEach;
  return pieces > 10 ? full - full / 10 : full;
}
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { price } from './price.mjs';

test('nine pieces cost nine times as much', () => assert.equal(price(9, 100), 900));
test('ten pieces are a tenth cheaper', () => assert.equal(price(10, 100), 900));
`;

/** What the long commands print when it is time to kill something. */
export const WORKER_KILL = { toolCallId: 'soak', atLine: /^round [4-9] / } as const;
export const AGENT_KILL = { toolCallId: 'watch', atLine: /^tick [2-9] / } as const;

/** The exit code that each command must end with; the first test run is meant to fail. */
export const EXPECTED_EXIT: Readonly<Record<string, number>> = {
  look: 0,
  test: 1,
  mend: 0,
  soak: 0,
  watch: 0,
  commit: 0,
};

export const USER_TEXT = 'The tests of this repository fail. Find out why, mend it, soak-test it, and commit.';

/** Each command first writes its name into the run log, so that a second run of it would show. */
function command(name: string, text: string): { id: string; name: 'execute'; arguments: object } {
  const intent = { look: 'look around', test: 'run the tests', mend: 'mend the comparison' }[name];
  return {
    id: name,
    name: 'execute',
    arguments: {
      command: `${text}${text.endsWith('\n') ? '' : '\n'}`.replace(/^/, `echo ${name} >> "$RUN_LOG"\n`),
      timeout_seconds: 120,
      ...(intent !== undefined && { intent }),
    },
  };
}

const SCRIPT = {
  steps: [
    {
      text: 'I look at the code and run the tests, side by side.',
      calls: [command('look', 'git log --oneline; cat price.mjs price.test.mjs'), command('test', 'node --test')],
    },
    {
      text: 'Ten pieces get no discount: the comparison leaves ten out. I mend it.',
      calls: [command('mend', "sed -i 's/pieces > 10/pieces >= 10/' price.mjs && git diff && node --test")],
    },
    {
      text: 'The tests pass. Now a soak test of about 20 seconds.',
      calls: [
        command(
          'soak',
          'end=$((SECONDS + 20)); round=0\n' +
            'while [ $SECONDS -lt $end ]; do\n' +
            '  round=$((round + 1)); node --test > /dev/null || exit 1\n' +
            '  echo "round $round passed"; sleep 0.7\n' +
            'done\necho "soak test passed: $round rounds"',
        ),
      ],
    },
    {
      text: 'I watch the folder for a while, in case something writes to it.',
      calls: [command('watch', 'for tick in $(seq 1 8); do echo "tick $tick of 8"; sleep 1; done; git status --short')],
    },
    {
      text: 'All quiet. I commit.',
      calls: [command('commit', 'git commit -qam "Ten pieces get the discount too"; git log --oneline')],
    },
    { text: 'Mended: from ten pieces on the discount applies. The tests pass, and the change is committed.' },
  ],
};

/** Makes the repository and the script; returns the script's path. */
export function makeJob(paths: { readonly workspace: string; readonly script: string }): void {
  mkdirSync(paths.workspace, { recursive: true });
  writeFileSync(join(paths.workspace, 'price.mjs'), SOURCE);
  writeFileSync(join(paths.workspace, 'price.test.mjs'), TEST);
  const git = (...words: string[]) => execFileSync('git', words, { cwd: paths.workspace, stdio: 'ignore' });
  git('init', '--quiet');
  git('config', 'user.name', 'Latchkey demo');
  git('config', 'user.email', 'demo@latchkey.invalid');
  git('config', 'commit.gpgsign', 'false');
  git('add', '.');
  git('commit', '--quiet', '--message', 'A price with a bug');
  writeFileSync(paths.script, JSON.stringify(SCRIPT, undefined, 2));
}
