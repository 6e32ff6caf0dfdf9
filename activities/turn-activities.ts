import type {
  NoticeActivities,
  StoreActivities,
  SweepActivities,
  TurnActivities,
} from '../contract/activity-interfaces.ts';
import type { ChatActivities, ChatWatchActivities } from '../contract/chat-activities.ts';
import type { Store } from '../store/store.ts';
import { awaitTurnEndWith } from './await-turn-end.ts';
import { createChatActivities } from './chat-activities.ts';
import { closeStepWith } from './close-step.ts';
import { closeStrayTurnWith } from './close-stray-turn.ts';
import { compactConversationWith } from './compact-conversation.ts';
import { deliverNoticeWith } from './deliver-notice.ts';
import { endTurnWith } from './end-turn.ts';
import { findStraysWith } from './find-strays.ts';
import { generateStepWith } from './generate-step.ts';
import type { ContextWindow } from './model/compaction/context-window.ts';
import type { ModelResolver } from './model/resolve-model.ts';
import type { WebhookSettings } from './notices/webhook-secrets.ts';
import { recordCancelRequestsWith } from './record-cancel-requests.ts';
import { recordResultWith } from './record-result.ts';
import { recordTargetsWith } from './record-targets.ts';
import { recordTruthWith } from './record-truth.ts';
import { takeTurnWith } from './take-turn.ts';
import { wakeChats } from './wake-chats.ts';

export interface TurnActivitiesOptions {
  readonly store: Store;
  readonly models: ModelResolver;
  /** Wall clock in milliseconds, for the age of a target. */
  readonly now?: () => number;
  /** A provider that says nothing for so long is given up, and asked again; default 10 minutes. */
  readonly modelSilenceMsMax?: number;
  /** Of the models in use; left out: a conversation is compacted only when its provider takes no more. */
  readonly contextWindow?: ContextWindow;
  /** Who is told of a turn's end; left out: nobody. */
  readonly webhook?: WebhookSettings;
}

/** What a turn worker offers: everything that needs the store or a model, and nothing that needs the workspace. */
export function createTurnActivities(
  options: TurnActivitiesOptions,
): TurnActivities & StoreActivities & SweepActivities & NoticeActivities & ChatActivities & ChatWatchActivities {
  const { store, webhook } = options;
  return {
    takeTurn: takeTurnWith(store),
    generateStep: generateStepWith({ now: Date.now, ...options }),
    compactConversation: compactConversationWith(options),
    closeStep: closeStepWith(store),
    recordTargets: recordTargetsWith(store),
    recordResult: recordResultWith(store),
    recordCancelRequests: recordCancelRequestsWith(store),
    recordTruth: recordTruthWith(store),
    endTurn: endTurnWith(store, { sendsNotices: webhook !== undefined }),
    deliverNotice: deliverNoticeWith(store, webhook),
    findStrays: findStraysWith(store),
    closeStrayTurn: closeStrayTurnWith(store),
    ...createChatActivities(store),
    awaitTurnEnd: awaitTurnEndWith(store),
    wakeChats,
  };
}
