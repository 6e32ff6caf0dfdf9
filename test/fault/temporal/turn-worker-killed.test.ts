import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('a turn whose worker is killed in mid-command goes on at another, and nothing runs twice', async () => {
  const whole = await Whole.open();
  const turn = await whole.startTurn([
    commands({ first: logged(whole.folder, 'first', 'echo first; sleep 4; exit 3') }),
    commands({ second: logged(whole.folder, 'second', 'echo second') }),
    DONE,
  ]);
  await turn.running('first', 'first');
  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  expect(await turn.result()).toMatchObject({ state: 'completed', steps: 3, calls: 2 });
  expect(await turn.call('first')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(await turn.call('second')).toMatchObject({ status: 'exited', exitCode: 0 });
  // The command's own attempt never noticed.
  expect(await turn.execution('first')).toMatchObject({ attempt: 1, end: 'completed' });
  expect([countRuns(whole.folder, 'first'), countRuns(whole.folder, 'second')]).toEqual([1, 1]);
});

test.for([
  { when: 'before its step is stored', point: 'generate-before-commit' },
  { when: 'after its step is stored', point: 'generate-after-commit' },
])('F10: a turn worker that dies $when leaves one message and one run', async ({ point }) => {
  const whole = await Whole.open({ turnEnv: { LATCHKEY_FAULT_AT: point } });
  const step = commands({ once: logged(whole.folder, 'once', 'exit 3') });
  const turn = await whole.startTurn([step, DONE]);
  await turn.until('the worker has died at its fault point', () => whole.worker('turn-worker').hasEnded);
  const stored = await turn.calls();
  expect(stored.map(({ status }) => status)).toEqual(point === 'generate-after-commit' ? ['reserved'] : []);
  expect(countRuns(whole.folder, 'once')).toBe(0);
  await whole.startTurnWorker();
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 1 });

  const said = (await whole.store.loadConversation(whole.chatId)).filter(({ role }) => role === 'assistant');
  expect(said.map(({ text }) => text)).toEqual([step.text, DONE.text]);
  expect((await turn.ended('generateStep')).map(({ attempt }) => attempt)).toEqual([2, 1]);
  const call = await turn.call('once');
  expect(call).toMatchObject({ status: 'exited', exitCode: 3 });
  // A stored step wins over whatever the next attempt would have brought (K5: its nonces too).
  if (stored[0] !== undefined) expect([call.key, call.nonce]).toEqual([stored[0].key, stored[0].nonce]);
  expect(countRuns(whole.folder, 'once')).toBe(1);
});
