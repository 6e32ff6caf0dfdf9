import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { findPostgresPrograms, startPostgres } from '../../fixtures/postgres-cluster.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

test('a whole turn on PostgreSQL goes on when its worker is killed and the database server crashes', async (context) => {
  const programs = findPostgresPrograms();
  if (programs === undefined) return context.skip('no PostgreSQL programs were found');
  const cluster = await startPostgres(programs);
  onTestFinished(cluster.stop);
  const whole = await Whole.open({ storeUrl: cluster.url('postgres') });
  const gate = join(whole.folder.root, 'gate');
  const turn = await whole.startTurn([
    commands({
      first: logged(whole.folder, 'first', `echo first; until [ -e '${gate}' ]; do sleep 0.1; done; exit 3`),
      second: logged(whole.folder, 'second', 'echo second'),
    }),
    DONE,
  ]);
  await turn.running('first', 'first');
  await whole.worker('turn-worker').kill();
  await whole.startTurnWorker();
  await cluster.restart();
  writeFileSync(gate, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', steps: 2, calls: 2 });
  expect(await turn.call('first')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(await turn.call('second')).toMatchObject({ status: 'exited', exitCode: 0 });
  expect([countRuns(whole.folder, 'first'), countRuns(whole.folder, 'second')]).toEqual([1, 1]);
  const conversation = await whole.store.loadConversation(whole.chatId);
  expect(conversation.map(({ role }) => role)).toEqual(['user', 'assistant', 'assistant']);
});
