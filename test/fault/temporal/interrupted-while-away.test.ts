import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { findMarked } from '../../fixtures/processes.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const GRACE_MS = 2500;

test.for([{ who: 'execute worker' as const }, { who: 'agent' as const }])(
  'G03: interrupted while the $who is dead, the turn ends within its grace, and a settle kills the command later',
  async ({ who }) => {
    const whole = await Whole.open();
    const mark = `away-${whole.chatId}`;
    const turn = await whole.startTurn(
      [commands({ away: logged(whole.folder, 'away', `exec -a '${mark}' sleep 300`) }), DONE],
      { timings: { interruptGraceMs: GRACE_MS } },
    );
    await turn.running('away');
    await turn.until('the command runs', () => findMarked(mark).length > 0);
    if (who === 'agent') await whole.agent.kill();
    else await whole.worker('execute-worker').kill();

    const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
    const askedAtMs = performance.now();
    await operations.interrupt();
    expect((await turn.result()).state).toBe('interrupted');
    expect(performance.now() - askedAtMs).toBeLessThan(GRACE_MS + 5000);
    const { key, status, result } = await turn.call('away');
    expect([status, result?.isError]).toEqual(['cancel_requested', true]);
    expect(result?.text).toMatch(/unknown: .*Check what it would have changed/);
    expect(findMarked(mark)).not.toEqual([]);

    if (who === 'agent') await whole.startAgent();
    else await whole.startExecuteWorker();
    expect(await operations.settleOf(key).result()).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
    expect(findMarked(mark)).toEqual([]);
    // The row says what is true, the text what was told (C3).
    expect(await turn.call('away')).toMatchObject({ status: 'canceled', result: { text: result?.text } });
    expect(countRuns(whole.folder, 'away')).toBe(1);

    const next = await whole.startTurn([DONE]);
    expect((await next.result()).state).toBe('completed');
    const conversation = await whole.store.loadConversation(whole.chatId);
    expect(conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'note', 'user', 'assistant']);
  },
);
