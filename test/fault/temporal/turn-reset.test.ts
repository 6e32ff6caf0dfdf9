import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

async function storedWords(whole: Whole) {
  const messages = await whole.store.loadConversation(whole.chatId);
  const calls = await whole.store.listCalls({ chatId: whole.chatId });
  return {
    messages: messages.map(({ role, text }) => `${role}: ${text}`),
    calls: calls.map(({ key, nonce, status, result }) => ({ key, nonce, status, result })),
  };
}

describe('L21: reset to each of its events, a finished turn is only read: no command runs twice, no message doubles', () => {
  test('I05: reset to each of its events, a finished turn is only read: no command runs twice, no message doubles', async () => {
    const whole = await Whole.open();
    const { chatId } = whole;
    const steps = [
      commands({ one: logged(whole.folder, 'one'), two: logged(whole.folder, 'two', 'exit 2') }),
      commands({ three: logged(whole.folder, 'three') }),
      DONE,
    ];
    const turn = await whole.startTurn(steps);
    await turn.result();
    // The next turn has used the ids that the first one would go on with.
    await (await whole.startTurn([commands({ one: logged(whole.folder, 'next') }), DONE])).result();
    const before = await storedWords(whole);

    const operations = await TurnOperations.open({ chatId, turn: turn.turn });
    const { runId, eventIds } = await operations.resetPoints();
    expect(eventIds.length).toBeGreaterThan(6);
    for (const eventId of eventIds) {
      const again = await operations.reset(runId, eventId);
      await again.result();
      expect(await storedWords(whole), `after a reset to event ${eventId}`).toEqual(before);
    }
    expect(['one', 'two', 'three', 'next'].map((key) => countRuns(whole.folder, key))).toEqual([1, 1, 1, 1]);
    // The chat goes on as if nothing had been.
    expect((await (await whole.startTurn([DONE])).result()).state).toBe('completed');
  }, 180_000);
});

describe('L19: reset to each event that it has, a running turn goes on with its command, which runs once; also while its agent is away', () => {
  test('I05: reset to each event that it has, a running turn goes on with its command, which runs once; also while its agent is away', async () => {
    const whole = await Whole.open();
    const { chatId } = whole;
    const go = join(whole.folder.root, 'go');
    const steps = [
      commands({ first: logged(whole.folder, 'first') }),
      commands({ held: logged(whole.folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`) }),
      DONE,
    ];
    const turn = await whole.startTurn(steps, { timings: { describeAgentMs: 2000 } });
    await turn.running('held');
    const { key } = await turn.call('held');
    const operations = await TurnOperations.open({ chatId, turn: turn.turn });
    const { runId, eventIds } = await operations.resetPoints();
    expect(eventIds.length).toBeGreaterThan(4);
    for (const eventId of eventIds) {
      // Of the run before: it is terminated by the reset, and so is each after it.
      const starts = whole.proxy.of('start', key).length;
      await operations.reset(runId, eventId);
      await turn.until(`the run after event ${eventId} attends the command`, () => {
        return whole.proxy.of('start', key).length > starts;
      });
    }
    // L19: nobody can say where calls go now, but the row has a target.
    await whole.agent.kill();
    await operations.reset(runId, eventIds[0] ?? 0);
    await turn.until('the newest run waits for the agent', async () =>
      (await turn.pending()).some(
        ({ activityId, heartbeat }) => activityId === key && heartbeat?.phase === 'unreachable',
      ),
    );
    await whole.startAgent();
    writeFileSync(go, '');
    const ended = await turn.until('the turn has ended', async () => {
      const { status } = await operations.handle.describe();
      return status.name !== 'RUNNING' && operations.handle.result();
    });
    expect(ended).toMatchObject({ state: 'completed' });
    expect(await turn.call('held')).toMatchObject({ status: 'exited', exitCode: 3 });
    expect(['first', 'held'].map((name) => countRuns(whole.folder, name))).toEqual([1, 1]);
    const said = (await storedWords(whole)).messages;
    expect(said).toEqual([
      'user: message 1',
      'assistant: I run something.',
      'assistant: I run something.',
      'assistant: Done.',
    ]);
  }, 180_000);
});
