import { describe, expect, test } from 'vitest';
import type { FailureCode } from '../../../contract/failures.ts';
import type { AgentId, JournalId } from '../../../contract/ids.ts';
import { SCRIPTED_TARGET } from '../../fakes/scripted-agent.ts';
import { byVerb, executeInput, exited, outputAnswer, prepareExecute, STARTED } from './execute-call.ts';

const start = { answer: STARTED };

describe('a command that ended', () => {
  test('E15: a non-zero exit is a value like any other', async () => {
    const { run } = await prepareExecute(byVerb({ start, output: { answer: exited('oops\n', { code: 3 }) } }));
    const outcome = await run();
    expect(outcome).toMatchObject({
      status: 'exited',
      evidence: { code: 'exit', target: SCRIPTED_TARGET },
      exit: { code: 3, durationMs: 1200 },
      handle: 'p1',
      startedAt: STARTED.startedAt,
      output: { totalBytes: 5, omittedBytes: 0, outputOpen: false },
    });
    expect(outcome.text).toBe('oops\n[exit 3 after 1.2 s]');
  });

  test.each([
    [{ code: 137, signal: 'SIGKILL' }, 'exited', 'exit', /^before\n\[exit 137 .*SIGKILL, which Latchkey did not send/],
    [{ code: 143, signal: 'SIGTERM' }, 'exited', 'exit', /^before\n\[exit 143 .*SIGTERM, which Latchkey did not send/],
    [{ code: 143, signal: 'SIGTERM', killedBy: 'kill_after' }, 'exited', 'exit', /timed out: killed .* 120 s/],
    [{ code: 143, signal: 'SIGTERM', killedBy: 'cancel' }, 'canceled', 'killed', /\[canceled: stopped on request/],
    [{ code: 143, signal: 'SIGTERM', killedBy: 'signal' }, 'exited', 'exit', /\[ended by a signal that this chat sent/],
  ])('R3: death by signal %o is told apart from our own kills', async (exit, status, code, text) => {
    const { run } = await prepareExecute(byVerb({ start, output: { answer: exited('before\n', exit) } }));
    const outcome = await run();
    expect(outcome).toMatchObject({ status, evidence: { code }, exit: { code: exit.code, signal: exit.signal } });
    expect(outcome.text).toMatch(text);
  });

  test('E13: two attempts at one ended command read the same text', async () => {
    const script = byVerb({ start, output: { answer: exited('a\nb', { durationMs: 65_400 }) } });
    const first = await (await prepareExecute(script)).run();
    const second = await (await prepareExecute(script, { info: { attempt: 4 } })).run();
    expect(second).toEqual(first);
    expect(first.text).toBe('a\nb\n[exit 0 after 1 min 5 s]');
  });

  test('random bytes become well-formed text whose JSON is bounded (part of E14)', async () => {
    const noise = Buffer.from(Array.from({ length: 32 * 1024 }, (_, index) => (index * 7919 + (index >> 3)) % 256));
    const { run } = await prepareExecute(byVerb({ start, output: { answer: exited(noise) } }));
    const outcome = await run();
    expect(outcome.text.isWellFormed()).toBe(true);
    expect(outcome.text).not.toContain('\0');
    expect(Buffer.byteLength(JSON.stringify(outcome))).toBeLessThan(70 * 1024);
    expect(outcome.output?.totalBytes).toBe(noise.length);
  });

  test('the output is read again until its reader has caught up', async () => {
    const { run } = await prepareExecute(
      byVerb({
        start,
        output: (_, count) => {
          const exit = { code: 0, durationMs: 10 };
          if (count < 3) return { answer: outputAnswer('', { state: 'exited', exit, outputOpen: true }, false) };
          return { answer: exited('all of it') };
        },
      }),
    );
    expect((await run()).text).toContain('all of it');
  });

  test('notes of the request are told with the result', async () => {
    const { run } = await prepareExecute(byVerb({ start, output: { answer: exited('') } }));
    const outcome = await run(executeInput({ notes: ['timeout_seconds was lowered to 14400'] }));
    expect(outcome.text).toBe('[exit 0 after 1.2 s]\n[no output]\n[note: timeout_seconds was lowered to 14400]');
  });
});

describe('the budget', () => {
  test('E09: a re-attached attempt waits only for what is left, then tells of a handle', async () => {
    const { agent, run } = await prepareExecute(
      byVerb({
        start: { answer: { ...STARTED, outcome: 'attached', ageMs: 119_700 } },
        output: (_, count) => ({ answer: outputAnswer('so far\n', { ageMs: count === 1 ? 119_900 : 120_010 }) }),
      }),
    );
    const outcome = await run();
    expect(outcome).toMatchObject({ status: 'detached', evidence: { code: 'budget' }, handle: 'p1' });
    expect(outcome.text).toBe(
      'so far\n[timed out: still running after its 120 s budget: handle p1. It was not stopped.]',
    );
    const waits = agent.requests.filter(({ verb }) => verb === 'output').map(({ body }) => body['waitMs']);
    expect(waits).toEqual([300, 100, 0]);
  });

  test('E09: an exit after the deadline but before the look is the result', async () => {
    const { run } = await prepareExecute(
      byVerb({
        start: { answer: { ...STARTED, outcome: 'attached', ageMs: 500_000 } },
        output: { answer: exited('late\n', { code: 7 }) },
      }),
    );
    expect(await run()).toMatchObject({ status: 'exited', exit: { code: 7 } });
  });

  test('C4: on_timeout kill is left to the agent, and waits for the end that it makes', async () => {
    const { agent, run } = await prepareExecute(
      byVerb({
        start,
        output: (_, count) => {
          if (count === 1) return { answer: outputAnswer('', { ageMs: 700 }, false) };
          return { answer: exited('x', { code: 143, signal: 'SIGTERM', killedBy: 'kill_after' }) };
        },
      }),
    );
    const outcome = await run(executeInput({ timeoutSeconds: 0.5, onTimeout: 'kill' }));
    expect(agent.requests[0]?.body['killAfterMs']).toBe(500);
    expect(outcome).toMatchObject({ status: 'exited', exit: { killedBy: 'kill_after' } });
  });

  test.each([
    ['asked for', { background: true }, {}],
    ['by a lone trailing &', {}, { background: true }],
  ])('a background command (%s) is detached at once with its handle', async (_, request, answer) => {
    const { agent, run } = await prepareExecute(byVerb({ start: { answer: { ...STARTED, ...answer } } }));
    const outcome = await run(executeInput(request));
    expect(outcome).toMatchObject({ status: 'detached', evidence: { code: 'background' }, handle: 'p1' });
    expect(agent.requests.map(({ verb }) => verb)).toEqual(['start']);
  });
});

describe('a refusal by the right journal', () => {
  test.each<[FailureCode, string, string, RegExp]>([
    ['canceled', 'no_effect', 'fenced', /^\[nothing ran: /],
    ['spawn_failed', 'no_effect', 'spawn_failed', /^\[nothing ran: /],
    ['input_mismatch', 'no_effect', 'input_mismatch', /^\[error: this request changed nothing/],
    ['journal_replaced', 'unknown', 'journal_replaced', /^\[outcome unknown: .*Before running it again/],
    ['journal_doubtful', 'unknown', 'journal_doubtful', /^\[outcome unknown: /],
    ['expired', 'unknown', 'expired', /^\[outcome unknown: /],
  ])('%s ends the call as %s', async (refuse, status, code, text) => {
    const { run } = await prepareExecute(byVerb({ start: { refuse } }));
    const outcome = await run();
    expect(outcome).toMatchObject({ status, evidence: { code } });
    expect(outcome.text).toMatch(text);
  });

  test('start_pending is asked again with the same key', async () => {
    const { agent, run } = await prepareExecute(
      byVerb({
        start: (_, count) => (count < 3 ? { refuse: 'start_pending' } : start),
        output: { answer: exited('') },
      }),
    );
    expect((await run()).status).toBe('exited');
    expect(new Set(agent.requests.slice(0, 3).map(({ body }) => body['key']))).toEqual(new Set(['7-call_1']));
  });

  test('K6: a refused start is fenced before it is called "nothing ran"', async () => {
    const fenced = { answer: { state: 'fenced', survivors: [] } };
    const { agent, run } = await prepareExecute(
      byVerb({ start: { refuse: 'bad_request', message: 'workdir: has a NUL character' }, cancel: fenced }),
    );
    const outcome = await run();
    expect(outcome).toMatchObject({ status: 'no_effect', evidence: { code: 'invalid_arguments' } });
    expect(outcome.text).toContain('workdir: has a NUL character');
    expect(agent.requests[1]).toMatchObject({ verb: 'cancel', body: { mode: 'fence' } });
  });

  test('K6: where the fence finds it running, its end is waited for', async () => {
    const running = { answer: { state: 'running', handle: 'p1', ageMs: 10, survivors: [] } };
    const script = { start: { refuse: 'bad_request' as const }, cancel: running, output: { answer: exited('ran') } };
    const { run } = await prepareExecute(byVerb(script));
    expect(await run()).toMatchObject({ status: 'exited', exit: { code: 0 } });
  });
});

describe('doubt', () => {
  test.each([
    ['another agent', { ...SCRIPTED_TARGET, agentId: 'agent-2' as AgentId }],
    ['another journal with a refusal of its own', { ...SCRIPTED_TARGET, journalId: 'journal-2' as JournalId }],
  ])('K5: the word of %s ends nothing (part of E12)', async (_, by) => {
    const refuse = by.agentId === SCRIPTED_TARGET.agentId ? 'canceled' : 'journal_replaced';
    const { run, beats } = await prepareExecute(
      byVerb({
        start: (_request, count) => (count === 1 ? { refuse, by } : start),
        output: { answer: exited('true end') },
      }),
    );
    expect(await run()).toMatchObject({ status: 'exited' });
    expect(beats.map(({ phase }) => phase)).toContain('unreachable');
  });

  test('a lost keeper is unknown, with the output so far', async () => {
    const lost = outputAnswer('half\n', { state: 'lost', reason: 'the machine restarted' });
    const { run } = await prepareExecute(byVerb({ start, output: { answer: lost } }));
    const outcome = await run();
    expect(outcome).toMatchObject({ status: 'unknown', evidence: { code: 'lost' } });
    expect(outcome.text).toMatch(/^half\n\[outcome unknown: the machine restarted\. /);
  });

  test.each([
    ['the connection is cut', 'cut' as const],
    ['a proxy answers 502', { raw: '<html>Bad Gateway</html>', status: 502 }],
    ['a proxy answers 200 with something else', { raw: '{"ok":true}', status: 200 }],
    ['the answer is late', 'hang' as const],
  ])('E04: when %s, the same start is sent again and the one run is told (part of R22)', async (_, failure) => {
    const { agent, run } = await prepareExecute(
      byVerb({
        start: (_request, count) => (count === 1 ? failure : { answer: { ...STARTED, outcome: 'attached' } }),
        output: { answer: exited('y') },
      }),
      { answerMarginMs: failure === 'hang' ? 100 : 5000, info: { heartbeatTimeoutMs: 400 } },
    );
    expect(await run()).toMatchObject({ status: 'exited' });
    const [first, second] = agent.requests;
    expect(second).toEqual(first);
    expect(second?.body).not.toHaveProperty('mustExist');
  });
});
