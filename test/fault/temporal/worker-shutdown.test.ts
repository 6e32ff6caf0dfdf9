import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

/** So long that no test could wait for it: what comes sooner was handed over, not noticed as missing. */
const HEARTBEAT_TIMEOUT_MS = 120_000;
const NEXT: Record<string, (whole: Whole) => Promise<unknown>> = {
  'turn-worker': (whole) => whole.startTurnWorker(),
  'execute-worker': (whole) => whole.startExecuteWorker(),
};

test.for([{ kind: 'turn-worker' as const }, { kind: 'execute-worker' as const }])(
  'G09: a $kind that is told to stop in mid-turn leaves the chat running without an error, and another one carries on',
  async ({ kind }) => {
    const whole = await Whole.open();
    const { chatId, folder, store } = whole;
    const go = join(folder.root, 'go');
    const held = logged(folder, 'held', `until [ -e '${go}' ]; do sleep 0.1; done; exit 3`);
    const turn = await whole.startTurn(
      [commands({ held }), commands({ next: logged(folder, 'next', 'exit 4') }), DONE],
      { timings: { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS } },
    );
    await turn.running('held');
    const stopped = whole.worker(kind);
    stopped.signal('SIGTERM');
    await stopped.ended();
    expect(stopped.child.exitCode).toBe(0);
    // With nobody there at all.
    const chat = await store.findChat(chatId);
    expect(chat).toMatchObject({ activeTurn: turn.turn });
    expect(chat?.lastError).toBeUndefined();
    expect(await store.findTurn({ chatId, turn: turn.turn })).toMatchObject({ state: 'active' });
    expect((await turn.handle.describe()).status.name).toBe('RUNNING');
    expect(countRuns(folder, 'held')).toBe(1);

    await NEXT[kind]?.(whole);
    writeFileSync(go, '');
    expect(await turn.result()).toMatchObject({ state: 'completed', steps: 3, calls: 2 });
    expect(await turn.call('held')).toMatchObject({ status: 'exited', exitCode: 3 });
    expect(await turn.call('next')).toMatchObject({ status: 'exited', exitCode: 4 });
    expect((await store.findChat(chatId))?.lastError).toBeUndefined();
    expect(whole.proxy.of('cancel')).toEqual([]);
    expect([countRuns(folder, 'held'), countRuns(folder, 'next')]).toEqual([1, 1]);
  },
);

test('G09: a turn worker that is told to stop while the model answers leaves the step to another, which answers once', async () => {
  const whole = await Whole.open();
  const { chatId, folder, store } = whole;
  const go = join(folder.root, 'go');
  const turn = await whole.startTurn([{ text: 'One answer.', holdUntilFile: go }], {
    timings: { heartbeatTimeoutMs: HEARTBEAT_TIMEOUT_MS },
  });
  await turn.until('the model is asked', async () =>
    (await turn.pending()).find(({ type, wasTaken }) => type === 'generateStep' && wasTaken),
  );
  const stopped = whole.worker('turn-worker');
  stopped.signal('SIGTERM');
  await stopped.ended();
  expect(await store.findChat(chatId)).toMatchObject({ activeTurn: turn.turn });
  expect((await store.findChat(chatId))?.lastError).toBeUndefined();

  await whole.startTurnWorker();
  writeFileSync(go, '');
  expect(await turn.result()).toMatchObject({ state: 'completed', calls: 0 });
  const said = (await store.loadConversation(chatId)).filter(({ role }) => role === 'assistant');
  expect(said.map(({ text }) => text)).toEqual(['One answer.']);
  expect((await store.findChat(chatId))?.lastError).toBeUndefined();
});
