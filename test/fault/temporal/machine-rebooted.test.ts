import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CALLS_SIDE_BY_SIDE_MAX, TARGET_FRESH_MS } from '../../../contract/limits.ts';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { bootAgent, bootWorker, losePower, reboot } from '../../fixtures/reboot.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** A worker takes seconds to come back on a busy machine, as a machine does that boots. */
const timings = { describeAgentMs: 40_000 };

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}${index + 1}`);
}

test('L10: a machine that reboots while the model thinks takes nothing from the five calls of the next step', async () => {
  const whole = await Whole.open();
  const go = join(whole.folder.root, 'go');
  const five = numbered('call', 5);
  const asked = commands(Object.fromEntries(five.map((id) => [id, logged(whole.folder, id, 'exit 3')])));
  const turn = await whole.startTurn(
    [commands({ first: logged(whole.folder, 'first') }), { ...asked, holdUntilFile: go }, DONE],
    { timings },
  );
  await turn.until('the model thinks, and the target is old', async () => {
    const generating = (await turn.pending()).find(({ type }) => type === 'generateStep');
    const { resolvedAt } = (await turn.findCall('first')) ?? {};
    return resolvedAt && generating && Date.now() - generating.scheduledMs > TARGET_FRESH_MS;
  });
  await reboot(whole);
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 6 });
  for (const id of five) {
    expect(await turn.call(id)).toMatchObject({ status: 'exited', exitCode: 3 });
    expect([id, countRuns(whole.folder, id)]).toEqual([id, 1]);
  }
});

test('L11: a reboot under twelve calls makes those that ran unknown, and the four that waited run', async () => {
  const whole = await Whole.open();
  const ran = numbered('ran', CALLS_SIDE_BY_SIDE_MAX);
  const waited = numbered('waited', 4);
  const turn = await whole.startTurn(
    [
      commands({
        ...Object.fromEntries(ran.map((id) => [id, logged(whole.folder, id, 'echo half; sleep 300')])),
        ...Object.fromEntries(waited.map((id) => [id, logged(whole.folder, id, 'exit 3')])),
      }),
      DONE,
    ],
    { timings },
  );
  await Promise.all(ran.map((id) => turn.running(id, 'half')));
  await turn.until('the target is old', async () => {
    const { createdAt } = await turn.call('ran1');
    return Date.now() - Date.parse(createdAt) > TARGET_FRESH_MS;
  });
  await reboot(whole);
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 12 });
  for (const id of ran) {
    const call = await turn.call(id);
    expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'lost' } });
    expect(call.result?.text).toMatch(/^half\n\[outcome unknown: .*restarted/);
  }
  for (const id of waited) expect(await turn.call(id)).toMatchObject({ status: 'exited', exitCode: 3 });
  expect([...ran, ...waited].map((id) => countRuns(whole.folder, id))).toEqual(Array.from({ length: 12 }, () => 1));
});

test('L14: a reboot while a start is on its way makes that one call unknown, in honest words', async () => {
  const whole = await Whole.open();
  const { folder, proxy } = whole;
  const isOnItsWay = Promise.withResolvers<void>();
  const boot = Promise.withResolvers<void>();
  proxy.onRequest = async ({ verb, body }) => {
    if (verb !== 'start' || !String(body['key']).endsWith('-late')) return;
    isOnItsWay.resolve();
    await boot.promise;
  };
  const turn = await whole.startTurn([
    commands({ before: logged(folder, 'before', 'exit 2') }),
    commands({ late: logged(folder, 'late') }),
    commands({ after: logged(folder, 'after', 'exit 3') }),
    DONE,
  ]);
  await isOnItsWay.promise;
  // The worker is on another machine: only so can a start outlive the boot.
  await whole.agent.kill();
  await bootAgent(whole);
  boot.resolve();
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 3 });
  const late = await turn.call('late');
  expect(late).toMatchObject({ status: 'unknown', evidence: { code: 'journal_doubtful' } });
  expect(late.result?.text).toMatch(/outcome unknown: the machine restarted between the dispatch and the start/);
  expect(late.result?.text).toMatch(/Before running it again, check what it would have changed/);
  expect(await turn.call('before')).toMatchObject({ status: 'exited', exitCode: 2 });
  expect(await turn.call('after')).toMatchObject({ status: 'exited', exitCode: 3 });
  expect(['before', 'late', 'after'].map((key) => countRuns(folder, key))).toEqual([1, 0, 1]);
});

test('L20: reset after a rollback of the workspace and a reboot, the turn dispatches to the recorded target, so nothing runs twice', async () => {
  const whole = await Whole.open();
  const { folder, chatId } = whole;
  const journal = join(folder.state, 'journal.db');
  const backup = join(folder.root, 'journal-backup.db');
  await whole.agent.kill('SIGTERM');
  cpSync(journal, backup);
  await whole.startAgent();
  const turn = await whole.startTurn([commands({ once: logged(folder, 'once', 'sleep 300') }), DONE], { timings });
  await turn.running('once');
  const before = await turn.call('once');

  await losePower(whole);
  for (const end of ['-wal', '-shm']) rmSync(`${journal}${end}`, { force: true });
  cpSync(backup, journal);
  await bootAgent(whole);
  // Nothing in it can tell that it went back: only who remembers where the call was sent.
  expect(await whole.agent.target()).toMatchObject({ journalId: before.target?.journalId });
  const operations = await TurnOperations.open({ chatId, turn: turn.turn });
  const { runId, eventIds } = await operations.resetPoints();
  const again = await operations.reset(runId, eventIds[0] ?? 0);
  await bootWorker(whole);

  expect(await again.result()).toMatchObject({ state: 'completed' });
  const { incarnation } = await whole.agent.target();
  expect(before.target?.incarnation).not.toBe(incarnation);
  const starts = whole.proxy.of('start', before.key);
  expect(new Set(starts.map(({ body }) => (body['target'] as { incarnation: string }).incarnation))).toEqual(
    new Set([before.target?.incarnation]),
  );
  expect(await turn.call('once')).toMatchObject({ status: 'unknown', evidence: { code: 'journal_doubtful' } });
  expect(countRuns(folder, 'once')).toBe(1);
});
