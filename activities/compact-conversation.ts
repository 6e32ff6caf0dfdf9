/**
 * Puts a summary in the place of a conversation's older part (`model/compaction/`). Idempotent by chat, turn and
 * number: a committed one returns what is stored and asks no model.
 */
import { Context } from '@temporalio/activity';
import type { CompactConversationInput, CompactConversationResult } from '../contract/activity-interfaces.ts';
import type { MessageId } from '../contract/ids.ts';
import type { ConversationMessage } from '../contract/messages.ts';
import type { Store } from '../store/store.ts';
import { faultPoint } from './fault-points.ts';
import { startBeating } from './model/beat.ts';
import { chooseReplaced, messageBytes } from './model/compaction/choose-replaced.ts';
import type { ContextWindow } from './model/compaction/context-window.ts';
import { summarize } from './model/compaction/summarize.ts';
import { withRetryNoted } from './model/note-retry.ts';
import type { ModelResolver } from './model/resolve-model.ts';
import { withActivityFailures } from './to-activity-failure.ts';

interface Dependencies {
  readonly store: Store;
  readonly models: ModelResolver;
  readonly contextWindow?: ContextWindow;
  readonly modelSilenceMsMax?: number;
}

/** Before the provider has refused, a summary must be worth its price; after it, every bit may help. */
const GAIN_SHARE_MIN = 0.25;
/** The first guess at what a model takes that has just refused all of it. */
const REFUSED_SHARE = 0.5;
/** Few enough for text of any language. */
const BYTES_PER_TOKEN = 2;

export function compactConversationWith(
  dependencies: Dependencies,
): (input: CompactConversationInput) => Promise<CompactConversationResult> {
  return async (input) => {
    const stopBeating = startBeating();
    try {
      return await withActivityFailures(() => compactConversation(dependencies, input));
    } finally {
      stopBeating();
    }
  };
}

async function compactConversation(
  { store, models, contextWindow, modelSilenceMsMax }: Dependencies,
  input: CompactConversationInput,
): Promise<CompactConversationResult> {
  const { isRefused } = input;
  const { info, cancellationSignal: abortSignal } = Context.current();
  const attemptScheduledMs = info.currentAttemptScheduledTimestampMs;
  const begun = await store.beginCompaction({ ...input, attemptScheduledMs });
  if (begun.state === 'committed') return begun.result;
  const conversation = await store.loadConversation(input.chatId);
  const choice = chooseReplaced(conversation, { gainShareMin: isRefused ? 0 : GAIN_SHARE_MIN });
  if (choice === undefined) return { messageCount: 0 };
  await store.announceCompaction(begun.attempt, choice.replaced.length);
  const transcriptBytesMax = isRefused ? refusedBytesMax(conversation, contextWindow) : Number.MAX_SAFE_INTEGER;
  const silence = modelSilenceMsMax === undefined ? {} : { silenceMsMax: modelSilenceMsMax };
  const model = await models(input.model);
  const text = await withRetryNoted(
    () => Promise.resolve(),
    () => summarize({ ...choice, model, transcriptBytesMax, abortSignal, ...silence }),
  );
  faultPoint('compact-before-commit');
  // An interrupted turn gets no summary that its user did not wait for.
  abortSignal.throwIfAborted();
  return store.commitCompaction(begun.attempt, {
    text,
    replaced: choice.replaced.map(({ id }) => id),
    seenMessageId: newestId(conversation),
  });
}

function refusedBytesMax(conversation: readonly ConversationMessage[], window: ContextWindow | undefined): number {
  const bytes = conversation.reduce((total, message) => total + messageBytes(message), 0);
  const guess = Math.floor(bytes * REFUSED_SHARE);
  return window === undefined ? guess : Math.min(guess, window.tokens * BYTES_PER_TOKEN);
}

function newestId(conversation: readonly ConversationMessage[]): MessageId {
  const ids = conversation.flatMap((message) => (message.role === 'note' ? [] : [message.id]));
  return Math.max(...ids) as MessageId;
}
