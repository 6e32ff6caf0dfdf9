/** A chat with each of its updates, an interrupted turn, an edit, moves to new runs, and its archiving at the end. */
import { chatWorkflowId } from '../../../contract/names.ts';
import { attributesOf, endOf } from '../recorded-history.ts';
import type { RecordedHistory } from '../recorded-history.ts';
import { held } from '../recording/recording-system.ts';
import { chainOf } from './chain-of.ts';
import type { Kind } from './kind.ts';

/** So few that it moves between two of its turns. */
const UPDATES_MAX = 4;
const UPDATES = ['send', 'promoteQueued', 'deleteQueued', 'bind', 'cancelCall', 'interrupt', 'edit', 'archive'];

export const chatted: Kind = {
  name: 'chatted',
  async record(system) {
    const chat = system.openChat(
      'chatted',
      { hold: [held('hold', 'go-chat')], stop: [held('stop', 'never'), held('canceled', 'never')] },
      UPDATES_MAX,
    );
    const { chats, chatId, model } = chat;
    const { agentId } = system;
    await chats.send(chatId, { clientMessageId: 'm1', text: 'hold' }, { agentId, model });
    await chat.running('hold');
    for (const name of ['m2', 'm3', 'm4']) await chats.send(chatId, { clientMessageId: name, text: name });
    await chats.promoteQueued(chatId, { clientMessageId: 'm4' });
    await chats.deleteQueued(chatId, { clientMessageId: 'm2' });
    system.openGate('go-chat');
    await chat.idle();
    await chats.bind(chatId, { agentId, model });
    await chats.send(chatId, { clientMessageId: 'm5', text: 'stop' });
    const [key] = await Promise.all([chat.running('canceled'), chat.running('stop')]);
    await chats.cancelCall(chatId, { key, who: 'Ann' });
    await chats.interrupt(chatId, { who: 'Ann' });
    await chat.idle();
    await chats.edit(chatId, { messageId: await chat.messageId('m4'), clientMessageId: 'm6', text: 'better' });
    await chat.idle();
    await chats.archive(chatId, { isArchived: true });
    await system.client.workflow.getHandle(chatWorkflowId(chatId)).result();
    return chainOf(system, chatWorkflowId(chatId));
  },
  facts: (parts) => {
    const runs = Object.values(parts).filter((run) => run !== undefined);
    const seen = new Set(runs.flatMap(updatesOf));
    const turns = runs.flatMap((run) => attributesOf(run, 'childWorkflowExecutionStarted'));
    const ends = runs.map(endOf);
    return {
      ...Object.fromEntries(UPDATES.map((update) => [`there is an update "${update}"`, seen.has(update)])),
      'it had at least five turns': turns.length >= 5,
      'it moved to a new run': ends.includes('WORKFLOW_EXECUTION_CONTINUED_AS_NEW'),
      'it completed once': ends.filter((end) => end === 'WORKFLOW_EXECUTION_COMPLETED').length === 1,
    };
  },
};

function updatesOf(run: RecordedHistory): string[] {
  return attributesOf(run, 'workflowExecutionUpdateAccepted').map(({ acceptedRequest }) => {
    const { input } = acceptedRequest as { input?: { name?: string } };
    return String(input?.name);
  });
}
