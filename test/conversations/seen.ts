/** All that is known of a conversation afterwards: what was asked, the stream, the rows, the run log, the provider. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ChatView } from '../../contract/chat.ts';
import type { ConversationMessage } from '../../contract/messages.ts';
import type { StoredCall } from '../../store/call-row.ts';
import type { Accepted, Conversation } from './conversation.ts';
import type { WireMessage } from './provider.ts';
import type { Transcript } from './transcript.ts';

export interface Seen {
  readonly name: string;
  readonly accepted: readonly Accepted[];
  readonly hasInterrupted: boolean;
  readonly transcript: Transcript;
  readonly conversation: readonly ConversationMessage[];
  /** Hidden ones too. */
  readonly calls: readonly StoredCall[];
  readonly activeTurn: number | undefined;
  readonly view: ChatView | undefined;
  readonly lastPrompt: readonly WireMessage[];
  readonly refusals: readonly string[];
  /** Lines of the run log that are of this conversation. */
  readonly ran: readonly string[];
}

export async function gatherSeen(conversation: Conversation): Promise<Seen> {
  const { stage, provider, name, chatId, accepted, hasInterrupted, transcript } = conversation;
  const { store } = stage;
  await transcript.look();
  const view = await viewWhenIdle(conversation);
  return {
    name,
    accepted,
    hasInterrupted,
    transcript,
    conversation: await store.loadConversation(chatId),
    calls: await store.listCalls({ chatId }),
    activeTurn: (await store.findChat(chatId))?.activeTurn,
    view,
    lastPrompt: provider.lastPrompts.get(name) ?? [],
    refusals: provider.refusals.get(name) ?? [],
    ran: stage.readRunLog().filter((line) => line.includes(` ${name}-`)),
  };
}

/** The entity hears of a turn's end a moment after the store; what it says after the deadline stands. */
async function viewWhenIdle({ chats, chatId }: Conversation): Promise<ChatView | undefined> {
  const deadlineMs = performance.now() + IDLE_MS_MAX;
  let view: ChatView | undefined;
  while (performance.now() < deadlineMs) {
    // While its workers are away nobody answers.
    view = await chats.view(chatId).catch(() => view);
    if (view?.state === 'idle' && view.queue.length === 0) break;
    await delay(LOOK_MS);
  }
  return view;
}

/** Far past every time-out that kills may cost, as in conversation.ts: a late answer is no wrong one. */
const IDLE_MS_MAX = 180_000;
const LOOK_MS = 200;
