import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CALLS_SIDE_BY_SIDE_MAX, TARGET_FRESH_MS } from '../../../contract/limits.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

const SLOTS = 3;
const SOON_MS = 5000;
const hours = (command: string) => ({ command, timeout_seconds: 2 * 3600 });

test('I04: with every execute slot full of hour-long commands describeAgent, process_output and an interrupt work within 5 s', async () => {
  const whole = await Whole.open({ executeEnv: { LATCHKEY_EXECUTE_SLOTS: String(SLOTS) } });
  const { folder, proxy } = whole;
  // They take every place that there is, and queue for more; each ends when it is told to.
  const ids = Array.from({ length: CALLS_SIDE_BY_SIDE_MAX }, (_, index) => `long${index}`);
  const goOf = (id: string) => join(folder.root, `go-${id}`);
  const filling = commands(
    Object.fromEntries(ids.map((id) => [id, hours(`until [ -e '${goOf(id)}' ]; do sleep 0.5; done`)])),
  );
  const look = { id: 'look', name: 'process_output', arguments: { handle: 'p1' } };
  const turn = await whole.startTurn([
    commands({ server: { command: 'echo hello; exec sleep 3600', background: true } }),
    { ...filling, calls: [...(filling.calls ?? []), look] },
    DONE,
  ]);
  const listRunning = async () => (await turn.pending()).filter(({ heartbeat }) => heartbeat?.phase === 'running');
  const first = await turn.until('every slot is taken, and the target is old', async () => {
    const running = await listRunning();
    const isOld = running.some(({ scheduledMs }) => Date.now() - scheduledMs > TARGET_FRESH_MS);
    return running.length === SLOTS && isOld && (await turn.calls()).find(({ key }) => key === running[0]?.activityId);
  });
  const descriptions = proxy.of('info').filter(({ body }) => body['chatId'] !== undefined).length;
  writeFileSync(goOf(first.toolCallId), '');
  const ended = await turn.until('the one call has ended', async () => {
    const { resolvedAt } = await turn.call(first.toolCallId);
    return resolvedAt;
  });
  const seen = await turn.until('the output has been read', async () => {
    const { resolvedAt } = await turn.call('look');
    return resolvedAt;
  });
  expect(Date.parse(seen) - Date.parse(ended)).toBeLessThan(SOON_MS);
  expect((await turn.call('look')).result?.text).toMatch(/^hello\n/);
  expect(proxy.of('info').filter(({ body }) => body['chatId'] !== undefined).length).toBeGreaterThan(descriptions);

  await turn.until('the freed slot is taken too', async () => (await listRunning()).length === SLOTS);
  const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
  const askedAtMs = performance.now();
  await operations.interrupt();
  expect((await turn.result()).state).toBe('interrupted');
  expect(performance.now() - askedAtMs).toBeLessThan(SOON_MS);
  const others = ids.filter((id) => id !== first.toolCallId);
  for (const id of others) expect(await turn.call(id)).toMatchObject({ status: 'canceled' });
});
