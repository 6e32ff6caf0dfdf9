import { expect, test } from 'vitest';
import { DONE, Whole } from '../../fixtures/whole-turn.ts';
import { startWebhookReceiver, WEBHOOK_SECRET } from '../../fixtures/webhook-receiver.ts';

test("a turn worker that is killed between a turn's end and its notice leaves the notice to the next one", async () => {
  const receiver = await startWebhookReceiver();
  const settings = { LATCHKEY_WEBHOOK_URL: receiver.url, LATCHKEY_WEBHOOK_SECRET: WEBHOOK_SECRET };
  const whole = await Whole.open({ turnEnv: { ...settings, LATCHKEY_FAULT_AT: 'end-before-report' } });
  const turn = await whole.startTurn([DONE]);
  await turn.until('the worker has died at its fault point', () => whole.worker('turn-worker').hasEnded);
  expect(await whole.store.findTurn({ chatId: whole.chatId, turn: 1 })).toMatchObject({ state: 'completed' });
  expect(receiver.received).toEqual([]);
  await whole.startTurnWorker(settings);
  expect(await turn.result()).toMatchObject({ state: 'completed' });
  await receiver.seen(1);
  expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ type: 'turn.completed', chatId: whole.chatId });
});
