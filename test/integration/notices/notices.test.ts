import { expect, test } from 'vitest';
import { parseWebhookSecrets } from '../../../activities/notices/webhook-secrets.ts';
import { noticeWorkflowId } from '../../../contract/names.ts';
import { openModelTurns } from '../../fixtures/model-turns.ts';
import { OPENAI } from '../../fixtures/providers.ts';
import { startWebhookReceiver, WEBHOOK_SECRET } from '../../fixtures/webhook-receiver.ts';

const secrets = parseWebhookSecrets(WEBHOOK_SECRET);

test('a receiver that fails twice gets the notice of a turn again, by the same id, and nobody waits for that', async () => {
  const receiver = await startWebhookReceiver([500, 'cut']);
  const { model } = await OPENAI.serve([{ text: 'All done.' }]);
  const turns = await openModelTurns(model, { webhook: { url: receiver.url, secrets } });
  const run = await turns.start('go');
  expect(await run.result()).toMatchObject({ state: 'completed' });
  expect(receiver.received.length).toBeLessThan(3);
  await receiver.seen(3);
  const [first, second, third] = receiver.received;
  const idOf = (each: typeof first) => each?.headers['webhook-id'];
  expect(idOf(first)).toMatch(/^turn_/);
  expect([idOf(second), idOf(third)]).toEqual([idOf(first), idOf(first)]);
  expect(third?.body).toBe(first?.body);
  expect(JSON.parse(third!.body)).toMatchObject({ type: 'turn.completed', turn: 1, steps: 1, calls: 0 });
  expect(third!.body).not.toContain('All done');
  expect(await run.workflow(noticeWorkflowId(turns.chatId, 1)).result()).toEqual({ state: 'delivered', status: 204 });
});

test('G10: an interrupted turn sends no notice; one that failed does, and a receiver that is gone ends the tries', async () => {
  const receiver = await startWebhookReceiver([410]);
  const refusal = { status: 400, error: { error: { type: 'invalid_request_error', message: 'no such parameter' } } };
  const { provider, model } = await OPENAI.serve(['silence', refusal]);
  const turns = await openModelTurns(model, { webhook: { url: receiver.url, secrets } });
  const first = await turns.start('go');
  await turns.until('the model was asked', () => provider.bodies.length > 0);
  await first.interrupt();
  expect(await first.result()).toMatchObject({ state: 'interrupted' });
  const second = await turns.start('again');
  expect(await second.result()).toMatchObject({ state: 'failed', error: { code: 'model_refused' } });
  expect(await second.workflow(noticeWorkflowId(turns.chatId, 2)).result()).toMatchObject({
    state: 'given_up',
    reason: expect.stringContaining('answered 410'),
  });
  expect(receiver.received.map(({ body }) => JSON.parse(body) as object)).toMatchObject([
    { type: 'turn.failed', turn: 2, error: { code: 'model_refused' } },
  ]);
  const none = first.workflow(noticeWorkflowId(turns.chatId, 1));
  await expect(none.describe()).rejects.toMatchObject({ name: 'WorkflowNotFoundError' });
});
