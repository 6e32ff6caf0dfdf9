/** Sends a message: as a turn of the chat, or of a new one. */
import { randomBytes, randomUUID } from 'node:crypto';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import { CodedError, Refusal } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { AgentId } from '../../contract/ids.ts';
import type { ReachedStage } from '../dev/reach-stage.ts';
import type { ChatTurn } from './latest-turn.ts';
import { startNextTurn } from './start-next-turn.ts';

const ASK_AGENT_MS_MAX = 5000;

export interface Message {
  readonly text: string;
  readonly model: string;
  readonly chat: string | undefined;
  readonly token: string | undefined;
}

export async function sendMessage(stage: ReachedStage, message: Message): Promise<ChatTurn & { workflowId: string }> {
  const { store, client, places } = stage;
  const { text, model } = message;
  const chatId = parseChatId(message.chat ?? `run-${randomBytes(4).toString('hex')}`);
  const agentId = await askAgentId(places.agentAddress, message.token);
  const chat = await store.findChat(chatId);
  if (chat?.activeTurn !== undefined) {
    throw new Refusal(
      'chat_busy',
      `turn ${chat.activeTurn} of chat ${chatId} is running: latchkey run --attach ${chatId}`,
    );
  }
  await store.createChat({ chatId, agentId });
  await store.enqueueUserMessage({ chatId, clientMessageId: randomUUID(), text });
  const next = { input: { chatId, agentId, model }, taskQueue: places.turnQueue, userText: text };
  const { turn, workflowId } = await startNextTurn({ store, client }, next);
  stage.use.follow(workflowId);
  return { chatId, turn, workflowId };
}

async function askAgentId(address: string, token: string | undefined): Promise<AgentId> {
  const options = { address, answerMarginMs: ASK_AGENT_MS_MAX, ...(token !== undefined && { token }) };
  const client = createAgentClient(options);
  try {
    return (await client.info({})).agentId;
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    throw new CodedError(error.code, `the turn needs its agent: ${error.message}`);
  } finally {
    await client.close();
  }
}
