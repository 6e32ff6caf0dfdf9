/** What the gateway asks of a chat's workflow: `ChatClient`, with a deadline. */
import type { Client } from '@temporalio/client';
import type { ChatClient } from '../client/chat-client.ts';
import { UPDATE_MS_MAX } from './limits.ts';

export type ChatActions = Pick<
  ChatClient,
  'send' | 'edit' | 'deleteQueued' | 'promoteQueued' | 'interrupt' | 'cancelCall' | 'output' | 'bind' | 'archive'
>;

/** An update waits for a turn worker for as long as there is none; whoever asked over HTTP is told before that. */
export function withDeadline(client: Client, chats: ChatClient): ChatActions {
  const soon = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    client.connection.withDeadline(Date.now() + UPDATE_MS_MAX, ask);
  return {
    send: (...given) => soon(() => chats.send(...given)),
    edit: (...given) => soon(() => chats.edit(...given)),
    deleteQueued: (...given) => soon(() => chats.deleteQueued(...given)),
    promoteQueued: (...given) => soon(() => chats.promoteQueued(...given)),
    interrupt: (...given) => soon(() => chats.interrupt(...given)),
    cancelCall: (...given) => soon(() => chats.cancelCall(...given)),
    output: (...given) => soon(() => chats.output(...given)),
    bind: (...given) => soon(() => chats.bind(...given)),
    archive: (...given) => soon(() => chats.archive(...given)),
  };
}
