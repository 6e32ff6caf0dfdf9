import { expect, test } from 'vitest';
import type { Store, StreamEvent } from '../../../client/open-store.ts';
import { watchTurn } from '../../../client/watch/watch-turn.ts';
import { parseChatId } from '../../../contract/ids.ts';

const CHAT = parseChatId('chat-1');

/** What a watcher of turn 2 is told of these events, by type and text. */
async function watch(bodies: readonly object[]): Promise<unknown[]> {
  const events = bodies.map((body, index) => ({ seq: index + 1, at: '', ...body }) as unknown as StreamEvent);
  const readEvents = async ({ after }: { after: number }) => events.filter(({ seq }) => seq > after);
  const store = { readEvents } as unknown as Store;
  const told: unknown[] = [];
  const audience = {
    event: (event: StreamEvent) => void told.push('text' in event ? event.text : event.type),
    pending: () => undefined,
    notice: () => undefined,
  };
  await watchTurn({ store, chatId: CHAT, turn: 2, audience, signal: new AbortController().signal });
  return told;
}

test('a watcher is told of retries of its own turn, and of notes that come while it runs', async () => {
  const turn = (number: number, state: string) => ({ type: 'turn', turn: number, state });
  const told = await watch([
    turn(1, 'active'),
    { type: 'retry', turn: 1 },
    { type: 'note', key: '1-a', text: 'before' },
    turn(1, 'completed'),
    turn(2, 'active'),
    { type: 'retry', turn: 2 },
    { type: 'note', key: '1-a', text: 'meanwhile' },
    turn(2, 'completed'),
  ]);
  expect(told).toEqual(['turn', 'retry', 'meanwhile', 'turn']);
});
