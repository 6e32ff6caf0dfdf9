import { expect, test } from 'vitest';
import { followChat } from '../../../client/follow-chat.ts';
import type { FollowFrom } from '../../../client/follow-chat.ts';
import { Refusal } from '../../../contract/failures.ts';
import { parseChatId } from '../../../contract/ids.ts';
import type { ChatFrame } from '../../../store/follow-chat.ts';

const chatId = parseChatId('c');
const at = '2026-01-01T00:00:00.000Z';

function turn(seq: number): ChatFrame {
  return { type: 'turn', turn: seq, state: 'active', seq, at };
}

/** Each run of the source: its frames, and then it breaks off. */
function brokenSource(...runs: (readonly ChatFrame[] | Error)[]): { from: FollowFrom; asked: (number | undefined)[] } {
  const asked: (number | undefined)[] = [];
  const from: FollowFrom = async function* ({ after }) {
    const run = runs[asked.length] ?? [];
    asked.push(after);
    if (run instanceof Error) throw run;
    yield* run;
    throw new Error('broke off');
  };
  return { from, asked };
}

test('S1: a source that breaks off is joined again by the cursor, also after a snapshot', async () => {
  const snapshot: ChatFrame = { type: 'status', state: 'idle', snapshot: true };
  const live: ChatFrame = { type: 'live', seq: 3, hasEarlier: false };
  const { from, asked } = brokenSource([snapshot], [snapshot, live, turn(5)], [], [turn(6)]);
  const controller = new AbortController();
  const frames: ChatFrame[] = [];
  for await (const frame of followChat(from, { chatId, signal: controller.signal })) {
    frames.push(frame);
    if (frames.length === 5) controller.abort();
  }
  expect(asked).toEqual([undefined, undefined, 5, 5]);
  expect(frames).toEqual([snapshot, snapshot, live, turn(5), turn(6)]);
});

test('a refusal is thrown, since no repeat mends it', async () => {
  const { from } = brokenSource(new Refusal('unknown_chat', 'there is no chat c'));
  const following = followChat(from, { chatId, signal: new AbortController().signal });
  await expect(following.next()).rejects.toThrow('there is no chat c');
});
