/** Sends a message: as a turn of the chat, or of a new one. */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import { turnWorkflowId } from '../../contract/names.ts';
import { agentAt, askAgentId } from '../ask-agent.ts';
import { ChatClient } from '../chat-client.ts';
import type { ReachedStage } from '../dev/reach-stage.ts';
import { modelOfChat } from './model-name.ts';
import type { ChatTurn } from './latest-turn.ts';

const QUEUE_LOOK_MS = 200;

export interface Message {
  readonly text: string;
  /** As --model gives it; without it a chat keeps its own. */
  readonly model: string | undefined;
  readonly chat: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** Through the chat, so that it never disagrees with another way of sending. */
export async function sendMessage(
  stage: ReachedStage,
  message: Message,
): Promise<ChatTurn & { workflowId: string; model: string }> {
  const { store, client, places } = stage;
  const { text } = message;
  const chatId = parseChatId(message.chat ?? `run-${randomBytes(4).toString('hex')}`);
  const agentId = await askAgentId(agentAt(places.agentAddress, message.env));
  const chat = await store.findChat(chatId);
  if (chat?.activeTurn !== undefined) {
    throw new Refusal(
      'chat_busy',
      `turn ${chat.activeTurn} of chat ${chatId} is running: latchkey run --attach ${chatId}`,
    );
  }
  if (chat !== undefined && chat.agentId !== agentId) {
    throw new Refusal('bad_request', `chat ${chatId} is bound to agent ${chat.agentId}`, 'agentId');
  }
  const model = modelOfChat(message.model, chat, message.env);
  const chats = new ChatClient({ client, taskQueue: places.turnQueue });
  const clientMessageId = randomUUID();
  if (chat?.model !== undefined && chat.model !== model) {
    await chats.bind(chatId, { model });
    process.stderr.write(`chat ${chatId}: from now on ${model} answers, not ${chat.model}\n`);
  }
  const sent = await chats.send(chatId, { clientMessageId, text }, { agentId, model });
  const turn = sent.turn ?? (await awaitTurn(store, { chatId, clientMessageId }));
  const workflowId = turnWorkflowId(chatId, turn);
  stage.use.follow(workflowId);
  return { chatId, turn, workflowId, model };
}

/** Somebody else's message came first, so this one waits. */
async function awaitTurn(
  store: ReachedStage['store'],
  name: { readonly chatId: ChatId; readonly clientMessageId: string },
): Promise<number> {
  for (;;) {
    const message = await store.findQueuedMessage(name);
    if (message?.turn !== undefined) return message.turn;
    if (message === undefined || message.isDeleted) {
      throw new Refusal('unknown_message', `the message was taken back from the queue of chat ${name.chatId}`);
    }
    await sleep(QUEUE_LOOK_MS);
  }
}
