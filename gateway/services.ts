/** What the routes work with. */
import type { AgentId } from '../contract/ids.ts';
import type { StreamPlaces } from './access/stream-places.ts';
import type { ChatActions } from './chat-actions.ts';
import type { Store } from './open-store.ts';
import type { LiveTails } from './stream/live-tails.ts';

export interface Services {
  readonly store: Store;
  readonly chats: ChatActions;
  readonly tails: LiveTails;
  readonly places: StreamPlaces;
  /** For chats that are made without saying so. */
  readonly defaults: { readonly agentId?: AgentId; readonly model?: string };
  /** Where the Temporal UI shows workflows, where that is known. */
  readonly temporalWorkflowsUrl?: string;
  /** Aborted when the gateway stops: streams end. */
  readonly stopping: AbortSignal;
}
