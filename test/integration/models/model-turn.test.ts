import { describe, expect, test } from 'vitest';
import type { ChatId } from '../../../contract/ids.ts';
import type { FakeReply } from '../../fakes/fake-provider.ts';
import { openModelTurns } from '../../fixtures/model-turns.ts';
import { ANTHROPIC, COMPATIBLE, OPENAI, PROVIDERS } from '../../fixtures/providers.ts';

/** A call that leaves a line in the run log, so that each of its runs can be counted. */
function note(id: string, what: string): FakeReply {
  return { calls: [{ id, arguments: { command: `echo ${what} >> ../run-log; echo ran ${what}` } }] };
}

async function eventsOf(turns: Awaited<ReturnType<typeof openModelTurns>>) {
  const chatId = (await turns.calls())[0]?.chatId;
  return chatId === undefined ? [] : turns.store.readEvents({ chatId, after: 0, limit: 1000 });
}

describe.each(PROVIDERS)('with $name', (each) => {
  describe('R8: the provider repeats an id in two steps of a turn and in the next turn: each call runs once, with its own result', () => {
    test('F03: the provider repeats an id in two steps of a turn and in the next turn: each call runs once, with its own result', async () => {
      const id = 'run_shell:0';
      const { model } = await each.serve([note(id, 'one'), note(id, 'two'), { text: 'ok' }, note(id, 'three')]);
      const turns = await openModelTurns(model);
      expect(await turns.run('first')).toMatchObject({ state: 'completed', steps: 3, calls: 2 });
      expect(await turns.run('second')).toMatchObject({ state: 'completed', steps: 2, calls: 1 });
      expect(turns.readRunLog()).toEqual(['one', 'two', 'three']);
      const calls = await turns.calls();
      expect(calls.map(({ status, exitCode }) => ({ status, exitCode }))).toEqual(
        calls.map(() => ({ status: 'exited', exitCode: 0 })),
      );
      expect(calls.map(({ result }) => result?.text.split('\n')[0])).toEqual(['ran one', 'ran two', 'ran three']);
    });
  });
});

describe('R9: odd, empty, absent and doubled ids in one reply: each call runs once and gets its own result', () => {
  test('F04: odd, empty, absent and doubled ids in one reply: each call runs once and gets its own result', async () => {
    const odd = [
      '',
      undefined,
      'functions.exec:0',
      'a/b',
      '../../x',
      'a b',
      '%2F',
      'call|fc_1',
      'a\nb',
      '日本',
      'x'.repeat(300),
      'same',
      'same',
    ];
    const calls = odd.map((id, index) => ({
      ...(id === undefined ? {} : { id }),
      arguments: { command: `echo ${index} >> ../run-log; echo ran ${index}` },
    }));
    const { provider, model } = await COMPATIBLE.serve([{ calls }]);
    const turns = await openModelTurns(model);
    expect(await turns.run('go')).toMatchObject({ state: 'completed', calls: odd.length });
    expect(turns.readRunLog().toSorted((a, b) => Number(a) - Number(b))).toEqual(odd.map((_, index) => `${index}`));
    expect((await turns.calls()).map(({ result }) => result?.text.split('\n')[0])).toEqual(
      odd.map((_, index) => `ran ${index}`),
    );
    expect(provider.bodies).toHaveLength(2);
  });
});

test('F08: the model call after a tool that succeeded gets HTTP 400: no tool runs again, and the chat says why', async () => {
  const refusal = { status: 400, error: { error: { type: 'invalid_request_error', message: 'no such parameter' } } };
  const { provider, model } = await OPENAI.serve([note('a', 'one'), refusal, { text: 'better now' }]);
  const turns = await openModelTurns(model);
  const result = await turns.run('go');
  expect(result).toMatchObject({ state: 'failed', error: { code: 'model_refused' } });
  expect(result.error?.message).toContain('no such parameter (HTTP 400)');
  expect(provider.bodies).toHaveLength(2);
  const chatId = (await turns.calls())[0]!.chatId;
  expect((await turns.store.findChat(chatId))?.lastError).toMatchObject({ code: 'model_refused' });
  expect(await turns.run('again')).toMatchObject({ state: 'completed' });
  expect((await turns.store.findChat(chatId))?.lastError).toBeUndefined();
  expect(turns.readRunLog()).toEqual(['one']);
});

test('F09: a stream that breaks twice and succeeds at the third try is read once by watchers', async () => {
  const text = 'All is well, and the tests pass.';
  const broken = { text, breaksAfter: 3, delayMs: 120 };
  const { provider, model } = await ANTHROPIC.serve([note('toolu_1', 'one'), broken, broken, { text }]);
  const turns = await openModelTurns(model);
  expect(await turns.run('go')).toMatchObject({ state: 'completed', steps: 2 });
  const events = await eventsOf(turns);
  // A watcher adds parts, forgets them at "withdrawn", and puts the message in their place.
  const shown = events.filter((event) => 'step' in event && event.step === 2).map((event) => event.type);
  expect(shown).toEqual(['withdrawn', 'retry', 'withdrawn', 'retry', 'message']);
  expect(events.filter((event) => 'text' in event && event.text === text)).toHaveLength(1);
  // No sooner than the policy's own 1 s and 2 s: the waiting is Temporal's, not ours.
  const [, second, third, fourth] = provider.timesMs;
  expect(third! - second!).toBeGreaterThan(900);
  expect(fourth! - third!).toBeGreaterThan(1800);
  expect(turns.readRunLog()).toEqual(['one']);
});

test('a limit on the rate is left alone for as long as the provider asks', async () => {
  const limited = {
    status: 429,
    error: { error: { message: 'slow down', type: 'rate_limit_error' } },
    headers: { 'retry-after': '3' },
  };
  const { provider, model } = await OPENAI.serve([limited, { text: 'hello' }]);
  const turns = await openModelTurns(model);
  expect(await turns.run('go')).toMatchObject({ state: 'completed', steps: 1 });
  expect(provider.timesMs[1]! - provider.timesMs[0]!).toBeGreaterThan(2900);
});

describe('C03: odd output reaches the provider as clean text, and the next turn works', () => {
  describe('C10: odd output reaches the provider as clean text, and the next turn works', () => {
    test('C02: odd output reaches the provider as clean text, and the next turn works', async () => {
      const commands = [
        `printf 'A\\355\\240\\200B\\377C'; printf 'a\\0b\\n'`,
        `for i in $(seq 1 30000); do printf 界; done`,
        `for i in $(seq 1 3000); do printf '\\rprogress %d/3000' $i; done; echo; echo end; printf 'a\\r\\nb\\r\\n'`,
      ];
      const calls = commands.map((command, index) => ({ id: `c${index}`, arguments: { command } }));
      const { provider, model } = await OPENAI.serve([{ calls }, { text: 'ok' }, { text: 'still here' }]);
      const turns = await openModelTurns(model);
      expect(await turns.run('go')).toMatchObject({ state: 'completed' });
      expect(await turns.run('and now')).toMatchObject({ state: 'completed' });
      const sent = (provider.bodies[1]!['messages'] as { role: string; content: string }[]).filter(
        ({ role }) => role === 'tool',
      );
      const [bytes, wide, bars] = sent.map(({ content }) => content);
      expect(bytes).toMatch(/^A\ufffd+B\ufffdCa\\0b/);
      expect(wide).not.toContain('\ufffd');
      expect(wide).toContain('bytes omitted');
      expect(bars).toMatch(/progress 3000\/3000\nend\na\r?\nb\r?\n\[/);
      expect(bars!.length).toBeLessThan(400);
    });
  });
});

test('process_list and process_output tell of a process in the background, and of none that is not the chat’s', async () => {
  const background = { command: 'echo ready; sleep 300', background: true, intent: 'a server' };
  const { model } = await ANTHROPIC.serve([
    { calls: [{ id: 't1', arguments: background }] },
    {
      calls: [
        { id: 't2', name: 'process_output', arguments: { handle: 'p1', wait_seconds: 1 } },
        { id: 't3', name: 'process_output', arguments: { handle: 'p1', from_byte: 2 } },
        { id: 't4', name: 'process_list', arguments: {} },
        { id: 't5', name: 'process_output', arguments: { handle: 'p99' } },
      ],
    },
  ]);
  const turns = await openModelTurns(model);
  const run = await turns.start('go');
  expect(await run.result()).toMatchObject({ state: 'completed', steps: 3, calls: 5 });
  const [started, ...reads] = await turns.calls();
  expect(started).toMatchObject({ status: 'detached', handle: 'p1' });
  expect(
    reads.map(({ status, evidence, result, summary }) => [summary, status, evidence?.code, result?.isError]),
  ).toEqual([
    ['process_output p1', 'no_effect', 'read', false],
    ['process_output p1', 'no_effect', 'read', false],
    ['process_list', 'no_effect', 'read', false],
    ['process_output p99', 'no_effect', 'invalid_arguments', true],
  ]);
  const [whole, range, list, none] = reads.map(({ result }) => result!.text);
  expect(whole).toBe('ready\n[still running: handle p1]');
  expect(range).toBe(
    'ady\n[still running: handle p1]\n[note: bytes 2 to 6 of 6 so far; what comes next will begin at 6]',
  );
  expect(list).toMatch(
    /^p1 {2}running, started \d+\.\d s ago \(background\) {2}\$ echo ready; sleep 300\n\[1 process of this chat that has not ended\]$/,
  );
  expect(none).toMatch(/no such process; process_list tells which there are/);
});

test('usage is kept for every step of every turn', async () => {
  const { model } = await OPENAI.serve([note('a', 'one'), { text: 'ok' }, { text: 'ok' }]);
  const turns = await openModelTurns(model);
  await turns.run('first');
  await turns.run('second');
  const chatId: ChatId = (await turns.calls())[0]!.chatId;
  const used = await turns.store.listUsage({ chatId });
  expect(used.map(({ turn, step }) => `${turn}.${step}`)).toEqual(['1.1', '1.2', '2.1']);
  expect(used[0]!.usage).toEqual({
    model: 'fake/model',
    inputTokens: 40,
    cacheReadTokens: 30,
    outputTokens: 7,
    reasoningTokens: 2,
  });
});
