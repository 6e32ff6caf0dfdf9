import { describe, expect, test } from 'vitest';
import { draftCalls } from '../../../activities/model/draft-calls.ts';
import { parseExecuteArguments } from '../../../activities/model/parse-execute-arguments.ts';
import { parseTimeoutSeconds } from '../../../activities/model/parse-timeout-seconds.ts';

const parse = (value: unknown) => parseExecuteArguments(JSON.stringify(value));

test('arguments that are all there are carried over, and the rest has its default', () => {
  const all = {
    command: 'make',
    timeout_seconds: 5,
    workdir: 'sub',
    background: true,
    on_timeout: 'kill',
    intent: 'build',
  };
  expect(parse(all)).toEqual({
    argumentsJson: JSON.stringify(all),
    request: {
      command: 'make',
      timeoutSeconds: 5,
      workdir: 'sub',
      background: true,
      onTimeout: 'kill',
      intent: 'build',
      notes: [],
    },
  });
  expect(parse({ command: 'make &' }).request).toEqual({
    command: 'make &',
    timeoutSeconds: 120,
    background: false,
    onTimeout: 'detach',
    notes: [],
  });
});

describe('timeout_seconds is accepted, lowered with a note, or refused by name', () => {
  test.each([
    [undefined, 120],
    [30, 30],
    ['30', 30],
    [' 30.5 ', 30.5],
    [1.5, 1.5],
    [0.0001, 0.001],
    [1.1, 1.1],
    [1.1001, 1.101],
    [14_400, 14_400],
  ])('%j is accepted as %d s', (value, seconds) => {
    expect(parseTimeoutSeconds(value)).toEqual({ seconds });
  });

  test.each([120_000, '120000', 2_147_483.648, 1e300])('%j is lowered to four hours, and a note says so', (value) => {
    expect(parseTimeoutSeconds(value)).toEqual({
      seconds: 14_400,
      note: expect.stringMatching(/was lowered to 14400/),
    });
  });

  test.each(['', ' ', null, true, -1, 0, '0', '-5', 'soon', '1e400', '0x10', [], {}])(
    '%j is refused by name',
    (value) => {
      expect(parse({ command: 'ls', timeout_seconds: value }).fault).toMatch(
        /^timeout_seconds is a number of seconds above 0, not /,
      );
    },
  );

  test('1e400, which JSON reads as infinity, is refused by name', () => {
    expect(parseExecuteArguments('{"command":"ls","timeout_seconds":1e400}').fault).toMatch(
      /timeout_seconds.*not Infinity/,
    );
  });
});

test.each([
  [{}, /^command is missing$/],
  [{ command: ' \n' }, /^command is empty$/],
  [{ command: 'a\0b' }, /^command has a NUL character$/],
  [{ command: 'a\ud800' }, /^command has a lone surrogate/],
  [{ command: 'x'.repeat(256 * 1024 + 1) }, /^command has more than 262144 bytes/],
  [{ command: 'ls', workdir: '' }, /^workdir is empty$/],
  [{ command: 'ls', workdir: 3 }, /^workdir is not a text$/],
  [{ command: 'ls', background: 'yes' }, /^background is true or false$/],
  [{ command: 'ls', background: null }, /^background is true or false$/],
  [{ command: 'ls', on_timeout: 'explode' }, /^on_timeout is "detach" or "kill"$/],
  [{ command: 'ls', intent: 1 }, /^intent is a text$/],
  [{ command: 'ls', cmd: 'x', b: 1 }, /^unknown field "cmd", "b"; known are command,/],
  [{ timeout_seconds: 0, background: 1 }, /^command is missing; timeout_seconds .*; background/],
])('%j is refused by name', (value, fault) => {
  expect(parse(value).fault).toMatch(fault);
});

test('a command of exactly 256 KiB is accepted', () => {
  expect(parse({ command: 'x'.repeat(256 * 1024) }).request?.command).toHaveLength(256 * 1024);
});

test('arguments that go back to a provider are well-formed, and escapes that only look like surrogates stay', () => {
  const { argumentsJson } = parse({ command: 'ls', 'x\ud800': 'a\udfffb \\ud800 😀' });
  expect(JSON.parse(argumentsJson)).toEqual({ command: 'ls', 'x\ufffd': 'a\ufffdb \\ud800 😀' });
});

test('arguments nested so deeply that they could not be written again are refused', () => {
  const depth = 200_000;
  const parsed = parseExecuteArguments(`{"command":${'['.repeat(depth)}${']'.repeat(depth)}}`);
  expect(parsed).toMatchObject({ argumentsJson: '{}', fault: expect.stringMatching(/nested too deeply/) });
});

test('the calls of one reply that are too much for one result of an activity are refused, the others are not', () => {
  const input = JSON.stringify({ command: 'x'.repeat(256 * 1024) });
  const drafts = draftCalls(
    Array.from({ length: 6 }, (_, index) => ({ id: `c${index}`, name: 'execute', input })),
    { showCommands: true },
  );
  expect(drafts.map((draft) => draft.request !== undefined)).toEqual([true, true, true, false, false, false]);
  expect(drafts[5]!.outcome?.text).toMatch(/ask again in a later reply/);
});
