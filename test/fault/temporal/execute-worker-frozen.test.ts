import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('E05: an attempt that is frozen and goes on after its successor began changes nothing: one run, one result', async () => {
  const whole = await Whole.open();
  const frozen = whole.worker('execute-worker');
  const go = `${whole.folder.root}/go`;
  const command = logged(
    whole.folder,
    'once',
    `echo begin; until [ -e '${go}' ]; do sleep 0.1; done; echo end; exit 3`,
  );
  const turn = await whole.startTurn([commands({ once: command }), DONE]);
  const first = await turn.running('once', 'begin');
  frozen.signal('SIGSTOP');
  await whole.startExecuteWorker();
  // The server may hand some attempts to the frozen process first: it keeps its open polls.
  await turn.until('a later attempt tells of the command', async () => {
    const pending = (await turn.pending()).find(({ type }) => type === 'execute');
    return pending !== undefined && pending.attempt > first.attempt && pending.heartbeat?.handle !== undefined;
  });
  frozen.signal('SIGCONT');
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });
  const call = await turn.call('once');
  expect(call).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(call.result?.text).toMatch(/^begin\nend\n/);
  expect(countRuns(whole.folder, 'once')).toBe(1);
});
