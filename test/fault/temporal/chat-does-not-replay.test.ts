/** The danger: a chat whose history doesn't replay on the code that runs now, which Temporal tries again for ever. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { writeChangedBundle } from '../../fixtures/changed-bundle.ts';
import { WholeChat } from '../../fixtures/whole-chat.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('R26: a chat whose history does not replay begins anew from its rows: its turn goes on, what waits is answered in order', async () => {
  const whole = await Whole.open();
  const { folder } = whole;
  const go = join(folder.root, 'go');
  const chat = await WholeChat.open(whole, {
    stepsByText: { m1: [commands({ held: logged(folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done`) }), DONE] },
  });
  await chat.send('m1');
  await chat.running('held', 1);
  await chat.send('m2');
  const { runId } = (await chat.handle.describe()).raw.workflowExecutionInfo?.execution ?? {};
  await whole.worker('turn-worker').kill();

  const change = { from: "'all-is-heard-first'", to: "'all-is-heard-otherwise'" };
  const bundle = writeChangedBundle(folder.root, change);
  await whole.startTurnWorker({ LATCHKEY_WORKFLOW_BUNDLE: bundle });
  expect(await chat.send('m3')).toEqual({ isNew: true, waiting: 2 });
  writeFileSync(go, '');
  await chat.idle(3);
  expect(await chat.asked()).toEqual(['m1', 'm2', 'm3']);
  expect(await chat.call('held')).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(countRuns(folder, 'held')).toBe(1);
  const first = await chat.client.workflow.getHandle(chat.handle.workflowId, runId ?? '').describe();
  expect(first.status.name).toBe('FAILED');
});
