import type { ChatActivities } from '../contract/chat-activities.ts';
import type { Store } from '../store/store.ts';
import { withActivityFailures } from './to-activity-failure.ts';

/** What a chat's workflow does in the store: one transaction each; a refusal leaves with its code. */
export function createChatActivities(store: Store): ChatActivities {
  return {
    openChat: (input) => withActivityFailures(() => store.openChat(input)),
    enqueueMessage: (input) => withActivityFailures(() => store.enqueueUserMessage(input)),
    deleteQueued: (input) => withActivityFailures(() => store.deleteQueued(input)),
    promoteQueued: (input) => withActivityFailures(() => store.promoteQueued(input)),
    checkEdit: (input) => withActivityFailures(() => store.checkEdit(input)),
    editMessage: (input) => withActivityFailures(() => store.editMessage(input)),
    bindChat: (input) => withActivityFailures(() => store.bindChat(input)),
    archiveChat: (input) => withActivityFailures(() => store.archiveChat(input)),
    findStoppable: (input) => withActivityFailures(() => store.findStoppable(input)),
    noteInterrupting: (input) => withActivityFailures(() => store.noteInterrupting(input)),
    claimNextTurn: (input) => withActivityFailures(() => store.claimNextTurn(input)),
  };
}
