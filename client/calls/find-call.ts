/** A call by its key. Keys are the chat's own: without a chat the folder's latest is meant. */
import { CodedError } from '../../contract/failures.ts';
import { parseExecutionKey } from '../../contract/execution-key.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import type { Store, StoredCall } from '../open-store.ts';
import { findLatestTurn } from '../run/latest-turn.ts';

export async function requireCall(
  folder: StageFolder,
  store: Store,
  wanted: { readonly key: string; readonly chat: string | undefined },
): Promise<StoredCall> {
  const key = parseExecutionKey(wanted.key);
  const chatId = wanted.chat === undefined ? findLatestTurn(folder)?.chatId : parseChatId(wanted.chat);
  if (chatId === undefined) {
    throw new CodedError(
      'configuration',
      'keys are the chat\'s own: say which one by --chat. "latchkey calls" lists both.',
      'chat',
    );
  }
  const call = await store.findCall({ chatId, key });
  if (call !== undefined) return call;
  throw new CodedError(
    'configuration',
    `chat ${chatId} has no call ${key}. "latchkey calls --all" lists calls and chats.`,
    'key',
  );
}
