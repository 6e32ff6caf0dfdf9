import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';
import type { WholeTurn } from '../../fixtures/whole-turn.ts';

const CANARY = 'canary-1-of-the-host';
const HOST = { CANARY_TOKEN: CANARY, LANG: '', LC_ALL: '' };
const REPOSITORY = 'git init -q g && cd g && git config user.name n && git config user.email n@localhost';

const STEPS = [
  commands({
    read: `read -p 'Proceed? ' a; echo "rc=$? a=$a"`,
    cat: 'cat; echo done',
    grep: 'grep foo',
    terminal: 'cat < /dev/tty',
    editor: `${REPOSITORY} && EDITOR=vi git commit --allow-empty`,
    environment: `env; tr '\\0' '\\n' < /proc/$PPID/environ`,
    locale: `printf 'ABC你好DEF'; touch '中文'; ls`,
    folder: 'mkdir -p d && cd d && pwd',
  }),
  commands({
    blank: ' \n',
    comment: '# only a note',
    background: 'sleep 30 &',
    syntax: 'sleep 0 &; echo x',
    strict: 'set -e; false; echo no',
    beyond: 'exit 300',
    elsewhere: 'cd d && false',
  }),
  commands({ alive: 'echo alive', back: 'pwd', removed: { command: 'rm -rf ../d && echo gone', workdir: 'd' } }),
  commands({ missing: { command: 'echo no', workdir: 'd' }, unaffected: 'echo ok', root: 'cd / && pwd' }),
  DONE,
];

describe('R18: a command has its own input, shell, folder and environment, and what it does to them troubles no other', () => {
  describe('R19: a command has its own input, shell, folder and environment, and what it does to them troubles no other', () => {
    describe('R20: a command has its own input, shell, folder and environment, and what it does to them troubles no other', () => {
      test('R16: a command has its own input, shell, folder and environment, and what it does to them troubles no other', async () => {
        const whole = await Whole.open({ agentEnv: HOST, executeEnv: HOST });
        const turn = await whole.startTurn(STEPS);
        expect(await turn.result()).toMatchObject({ state: 'completed' });
        const { workspace } = whole.folder;
        await expectTexts(turn, {
          // R16: standard input is empty and there is no terminal; nobody is waited for.
          read: /^rc=1 a=\n\[exit 0 /,
          cat: /^done\n\[exit 0 /,
          grep: /^\[exit 1 /,
          terminal: /\/dev\/tty.*\n\[exit 1 /,
          editor: /\[exit [01] /,
          // R18: as bash ends them.
          blank: /command is empty/,
          comment: /^\[exit 0 .*\]\n\[no output\]$/,
          background: /^\[started in the background: handle p\d+; it goes on running\]/,
          syntax: /syntax error near unexpected token `;'[^]*\[exit 2 /,
          strict: /^\[exit 1 /,
          beyond: /^\[exit 44 /,
          alive: /^alive\n\[exit 0 /,
          // R19: `cd` is the call's own; a folder that is gone is named.
          folder: new RegExp(`^${join(workspace, 'd')}\n`),
          elsewhere: /^\[exit 1 /,
          back: new RegExp(`^${workspace}\n`),
          removed: /^gone\n\[exit 0 /,
          missing: /nothing ran.*\bd\b/,
          unaffected: /^ok\n\[exit 0 /,
          root: /^\/\n\[exit 0 /,
          // R20: the bytes are intact, in names too.
          locale: /^ABC你好DEF[^]*中文\n/,
        });
        const seen = (await turn.call('environment')).result?.text ?? '';
        expect(seen).not.toContain(CANARY);
        for (const needed of [/^PATH=.*\/bin/m, /^HOME=\//m, /^LANG=.*UTF-8$/m, /^TERM=dumb$/m])
          expect(seen).toMatch(needed);
        // None waited for its limit of two minutes.
        for (const { toolCallId, outcome } of await turn.calls()) {
          expect([toolCallId, (outcome?.exit?.durationMs ?? 0) < 60_000]).toEqual([toolCallId, true]);
        }
      });
    });
  });
});

async function expectTexts(turn: WholeTurn, expected: Readonly<Record<string, RegExp>>): Promise<void> {
  for (const [id, pattern] of Object.entries(expected)) {
    expect((await turn.call(id)).result?.text, id).toMatch(pattern);
  }
}
