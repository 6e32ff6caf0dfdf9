import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** As R23, with 8 s in place of 20. */
const COMMAND_SECONDS = 8;

describe('R23: a worker killed in mid-command is replaced, the command runs once and its whole output is there', () => {
  test('E01: a worker killed in mid-command is replaced, the command runs once and its whole output is there', async () => {
    const whole = await Whole.open();
    const { runLog } = whole.folder;
    const command = `echo start >> '${runLog}'; echo before; sleep ${COMMAND_SECONDS}; echo end >> '${runLog}'; echo out; exit 4`;
    const turn = await whole.startTurn([commands({ long: command }), DONE]);
    const { heartbeat } = await turn.running('long', 'before');
    await whole.worker('execute-worker').kill();
    await whole.startExecuteWorker();
    expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });

    expect(readFileSync(runLog, 'utf8')).toBe('start\nend\n');
    const call = await turn.call('long');
    expect(call).toMatchObject({
      status: 'exited',
      exitCode: 4,
      evidence: { code: 'exit' },
      handle: heartbeat?.handle,
    });
    expect(call.result?.text).toMatch(/^before\nout\n\[exit 4 after /);
    expect(await turn.execution('long')).toMatchObject({ attempt: 2, end: 'completed' });
    // Detection and attaching take less than the command still has to run, so they cost nothing.
    const takenMs = Date.parse(call.resolvedAt ?? '') - Date.parse(call.outcome?.startedAt ?? '');
    expect(takenMs).toBeGreaterThanOrEqual(COMMAND_SECONDS * 1000 - 100);
    expect(takenMs).toBeLessThan(COMMAND_SECONDS * 1000 * 1.7);
    // The second attempt knew a handle, so it could only attach.
    const starts = whole.proxy.of('start', call.key);
    expect(starts.map(({ body, answer }) => [body['mustExist'] ?? false, answer?.['outcome']])).toEqual([
      [false, 'started'],
      [true, 'attached'],
    ]);
  });
});
