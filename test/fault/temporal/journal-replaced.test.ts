import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** The agent as it was when its journal was copied; it notices, and gets a new journal id under its own agent id. */
async function goBack(whole: Whole, backup: string): Promise<void> {
  const journal = join(whole.folder.state, 'journal.db');
  for (const end of ['-wal', '-shm']) rmSync(`${journal}${end}`, { force: true });
  cpSync(backup, journal);
  await whole.startAgent();
}

/** A whole whose agent's journal was copied before anything ran. */
async function openWithBackup(): Promise<{ whole: Whole; backup: string }> {
  const whole = await Whole.open();
  const backup = join(whole.folder.root, 'journal-backup.db');
  await whole.agent.kill('SIGTERM');
  cpSync(join(whole.folder.state, 'journal.db'), backup);
  await whole.startAgent();
  return { whole, backup };
}

test('E11: a journal that is replaced in mid-call makes the call unknown, with evidence, and nothing runs again', async () => {
  const { whole, backup } = await openWithBackup();
  const turn = await whole.startTurn([commands({ long: logged(whole.folder, 'long', 'sleep 300') }), DONE]);
  await turn.running('long');
  const { agentId, journalId } = await whole.agent.target();
  await whole.agent.kill();
  await goBack(whole, backup);
  const now = await whole.agent.target();
  expect([now.agentId, now.journalId === journalId]).toEqual([agentId, false]);
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  const call = await turn.call('long');
  expect(call).toMatchObject({ status: 'unknown', evidence: { code: 'journal_replaced' } });
  expect(call.result?.text).toContain('may have run');
  expect(countRuns(whole.folder, 'long')).toBe(1);
});

test('L26: a settle that meets a replaced journal of the same agent ends as unknown at once', async () => {
  const { whole, backup } = await openWithBackup();
  const turn = await whole.startTurn([commands({ long: logged(whole.folder, 'long', 'sleep 300') }), DONE], {
    timings: { interruptGraceMs: 1500 },
  });
  await turn.running('long');
  await whole.agent.kill();
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  await operations.interrupt();
  await turn.result();
  const { key, status } = await turn.call('long');
  expect(status).toBe('cancel_requested');
  await goBack(whole, backup);
  expect(await operations.settleOf(key).result()).toMatchObject({
    status: 'unknown',
    evidence: { code: 'journal_replaced' },
  });
  expect(await turn.call('long')).toMatchObject({ status: 'unknown' });
});
