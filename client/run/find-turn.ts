/** The turn that `--attach` and `--interrupt` mean: the chat's running one, else its last. */
import { CodedError } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import type { Store } from '../open-store.ts';
import { findLatestTurn } from './latest-turn.ts';
import type { ChatTurn } from './latest-turn.ts';

export interface FoundTurn extends ChatTurn {
  readonly hasEnded: boolean;
}

export async function findTurn(folder: StageFolder, store: Store, chat: string | undefined): Promise<FoundTurn> {
  const latest = findLatestTurn(folder);
  const chatId = chat === undefined ? latest?.chatId : parseChatId(chat);
  if (chatId === undefined) {
    throw new CodedError(
      'configuration',
      `no turn was started in ${folder.workspace} yet: latchkey run "…" starts one.`,
    );
  }
  const stored = await store.findChat(chatId);
  const turn = stored?.activeTurn ?? stored?.lastTurn;
  if (turn === undefined || turn === 0) {
    throw new CodedError(
      'configuration',
      `the store has no turn of chat ${chatId}. See "latchkey calls --all" for what there is.`,
    );
  }
  const row = await store.findTurn({ chatId, turn });
  return { chatId, turn, hasEnded: row !== undefined && row.state !== 'active' };
}
