/** Reaches the pieces, and the chat that is meant: an existing one, or one that begins with its first message. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { NewChat, SendAnswer } from '../../contract/chat.ts';
import { CodedError } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import { chatWorkflowId } from '../../contract/names.ts';
import { agentAt, askAgentId } from '../ask-agent.ts';
import { ChatClient } from '../chat-client.ts';
import type { ReachedStage } from '../dev/reach-stage.ts';
import { modelOfChat, requireModelName } from '../run/model-name.ts';

export interface ChatSession {
  readonly chatId: ChatId;
  readonly stage: ReachedStage;
  readonly chats: ChatClient;
  /** Whom and what it is bound to, as far as it is known at the beginning. */
  readonly binding: NewChat;
  /** The agent of this folder; another than the chat's perhaps. */
  readonly ownAgentId: NewChat['agentId'];
  /** False until its first message is accepted. */
  readonly isThere: boolean;
  /** Counts once, also when it is sent again. Makes the chat if it isn't there. */
  send(text: string, clientMessageId?: string): Promise<SendAnswer>;
}

export interface SessionRequest {
  readonly chat: string | undefined;
  readonly model: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

/** What is wrong with the words is said before anything is started. */
export function checkSession({ chat, model, env }: SessionRequest): void {
  if (chat === undefined) requireModelName(model, env);
  else parseChatId(chat);
}

export async function openSession(stage: ReachedStage, request: SessionRequest): Promise<ChatSession> {
  const { chat: named, model: flag, env } = request;
  const { store, client, places } = stage;
  const chatId = parseChatId(named ?? `chat-${randomBytes(4).toString('hex')}`);
  const ownAgentId = await askAgentId(agentAt(places.agentAddress, env));
  const chats = new ChatClient({ client, taskQueue: places.turnQueue, store });
  const chat = await store.findChat(chatId);
  if (chat?.isArchived === true && flag === undefined) {
    // Reading and /archive off are still possible.
    process.stderr.write(`chat ${chatId} is archived: it takes no messages until /archive off\n`);
  }
  const model = modelOfChat(flag, chat, env);
  if (chat !== undefined && chat.model !== model) await chats.bind(chatId, { model });
  const binding = { agentId: chat?.agentId ?? ownAgentId, model };
  let isThere = chat !== undefined;
  return {
    chatId,
    stage,
    chats,
    binding,
    ownAgentId,
    get isThere() {
      return isThere;
    },
    async send(text, clientMessageId = randomUUID()) {
      const answer = await chats.send(chatId, { clientMessageId, text }, binding);
      isThere = true;
      return answer;
    },
  };
}

/** Lets go of the pieces. What still runs or waits keeps them: the use stays in its file for as long (stage-users.ts). */
export async function leaveSession({ stage, chatId, isThere }: ChatSession, isBusy: boolean): Promise<void> {
  if (!isBusy) return stage.leave({ awaitsEnd: true, ...(isThere && { told: chatWorkflowId(chatId) }) });
  stage.use.follow(chatWorkflowId(chatId));
  await stage.store.close();
  await stage.client.connection.close();
}

/** For a command that needs a chat that is there. */
export function requireThere({ isThere, chatId }: ChatSession): void {
  if (isThere) return;
  // Not `unknown_chat`: among the chats it would be looked for in vain.
  throw new CodedError(
    'configuration',
    `chat ${chatId} begins with its first message: send a message first.`,
    'chatId',
  );
}
