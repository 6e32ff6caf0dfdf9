import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

describe('R23: when a worker dies after the end of the command, the next attempt brings the stored end', () => {
  test('E03: when a worker dies after the end of the command, the next attempt brings the stored end', async () => {
    const whole = await Whole.open({ executeEnv: { LATCHKEY_FAULT_AT: 'execute-before-report' } });
    const turn = await whole.startTurn([commands({ once: logged(whole.folder, 'once', 'echo out; exit 7') }), DONE]);
    await turn.until('the worker has died at its fault point', () => whole.worker('execute-worker').hasEnded);
    const endedBefore = await whole.agent.client.info({ chatId: whole.chatId });
    expect(endedBefore.counts.open).toBe(0);
    await whole.startExecuteWorker();
    expect(await turn.result()).toMatchObject({ state: 'completed' });

    expect(countRuns(whole.folder, 'once')).toBe(1);
    const call = await turn.call('once');
    expect(call).toMatchObject({ status: 'exited', exitCode: 7, evidence: { code: 'exit' } });
    expect(call.result?.text).toMatch(/^out\n\[exit 7 after /);
    expect(await turn.execution('once')).toMatchObject({ attempt: 2, end: 'completed' });
  });
});
