/** `/bind`: where the commands of later turns run. What runs stays where it is (E12). */
import { parseAgentId } from '../../contract/ids.ts';
import type { CommandContext } from './command-context.ts';
import { requireThere } from './open-session.ts';

export async function bind({ session, say }: CommandContext, words: string): Promise<void> {
  requireThere(session);
  const agentId = words === '' ? session.ownAgentId : parseAgentId(words);
  const bound = await session.chats.bind(session.chatId, { agentId });
  say(`bound to agent ${bound.agentId} from the next turn on`);
}
