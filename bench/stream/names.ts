import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';

export function chatName(number: number): ChatId {
  return parseChatId(`bench-${number}`);
}
