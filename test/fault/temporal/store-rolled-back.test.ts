import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { copyStore, restoreStore } from '../../fixtures/store-backup.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

describe('L18: after a restore of the store the turn says so, the chat goes on with fresh ids, the same call runs, and its interrupt touches nothing of the old one', () => {
  test('I02: after a restore of the store the turn says so, the chat goes on with fresh ids, the same call runs, and its interrupt touches nothing of the old one', async () => {
    const whole = await Whole.open();
    const backup = join(whole.folder.root, 'backup.db');
    copyStore(whole, backup);
    const script = [
      commands({ same: { command: logged(whole.folder, 'same', 'echo old; sleep 300'), background: true } }),
      DONE,
    ];
    const old = await whole.startTurn(script);
    await old.result();
    const before = await old.call('same');
    await restoreStore(whole, backup);
    expect(await whole.store.listCalls({ chatId: whole.chatId })).toEqual([]);

    // The number of the first turn is used up on Temporal, although the store doesn't know.
    await whole.store.reserveNextTurn(whole.chatId);
    const noticing = await whole.startTurn(script);
    expect(await noticing.result()).toMatchObject({ state: 'failed', error: { code: 'store_rolled_back' } });
    expect(countRuns(whole.folder, 'same')).toBe(1);

    const next = await whole.startTurn([commands({ same: logged(whole.folder, 'same', 'echo old; sleep 300') }), DONE]);
    await next.running('same', 'old');
    const call = await next.call('same');
    expect(call.key).not.toBe(before.key);
    expect(countRuns(whole.folder, 'same')).toBe(2);
    await (await TurnOperations.open({ chatId: whole.chatId, turn: next.turn })).interrupt();
    await next.result();
    expect(await next.call('same')).toMatchObject({ status: 'canceled' });
    const target = await whole.agent.target();
    const open = await whole.agent.client.list({ target, chatId: whole.chatId, onlyOpen: true });
    expect(open.processes.map(({ key }) => key)).toEqual([before.key]);
  }, 120_000);
});

test('I02: a store that goes back in time in the middle of a turn ends it as store_rolled_back, and not with silence', async () => {
  const whole = await Whole.open();
  const backup = join(whole.folder.root, 'backup.db');
  const go = join(whole.folder.root, 'go');
  copyStore(whole, backup);
  const turn = await whole.startTurn([
    commands({ first: logged(whole.folder, 'first') }),
    { ...commands({ second: logged(whole.folder, 'second') }), holdUntilFile: go },
    DONE,
  ]);
  await turn.until('the second step is held', async () => {
    const isEnded = (await turn.findCall('first'))?.status === 'exited';
    return isEnded && (await turn.pending()).some(({ type }) => type === 'generateStep');
  });
  await restoreStore(whole, backup);
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'failed', error: { code: 'store_rolled_back' } });
  expect([countRuns(whole.folder, 'first'), countRuns(whole.folder, 'second')]).toEqual([1, 0]);
  const chat = await whole.store.findChat(whole.chatId);
  expect(chat?.lastTurn).toBe(turn.turn);
  expect((await (await whole.startTurn([DONE])).result()).state).toBe('completed');
});
