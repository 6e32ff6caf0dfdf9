/** `/agent`: which agent the chat is bound to, and how that is. */
import type { AgentId } from '../../contract/ids.ts';
import { agentAt, askAgent } from '../ask-agent.ts';
import { findLastPoll } from '../calls/last-poll.ts';
import { formatDuration } from '../watch/format-time.ts';
import type { CommandContext } from './command-context.ts';

export async function showAgent(context: CommandContext): Promise<void> {
  const { session, say } = context;
  const { chatId, stage, binding, ownAgentId } = session;
  const agentId = (await stage.store.findChat(chatId))?.agentId ?? binding.agentId;
  say(
    `agent ${agentId}${agentId === ownAgentId ? '' : `, not this folder's (${ownAgentId}): /bind binds the chat to that`}`,
  );
  say(`  worker: ${await describeWorker(context, agentId)}`);
  if (agentId === ownAgentId) say(`  ${await describeDaemon(context)}`);
}

async function describeWorker({ session }: CommandContext, agentId: AgentId): Promise<string> {
  const lastPollMs = await findLastPoll(session.stage.client, agentId, Date.now());
  if (lastPollMs === undefined) return 'the server does not say whether one polls';
  return lastPollMs === 'none' ? 'none polls its queues: calls wait' : `polled ${formatDuration(lastPollMs)} ago`;
}

async function describeDaemon({ session }: CommandContext): Promise<string> {
  try {
    const { version, ready, counts } = await askAgent(agentAt(session.stage.places.agentAddress, process.env));
    return `daemon: ${ready ? 'ready' : 'its start-up scripts are not done'}, version ${version}, calls ${counts.calls}, open ${counts.open}`;
  } catch (error) {
    return `daemon: ${error instanceof Error ? error.message : String(error)}`;
  }
}
