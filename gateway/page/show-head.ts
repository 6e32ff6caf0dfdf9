/** The head of a chat: its names, how it is, how the page is connected, what went wrong. */
import { sayFailure } from './api.ts';
import type { Conversation } from './conversation.ts';
import { requireElement, setText } from './elements.ts';
import type { Connection } from './follow-events.ts';

export function showHead(chatId: string, conversation: Conversation, connection: Connection, failure: string): void {
  const { state, title = chatId, agentId, model, isArchived, error, isLive } = conversation;
  setText(requireElement('title', HTMLElement), title);
  document.title = `${state === 'running' ? '● ' : ''}${title} · Latchkey`;
  const bound = [model, agentId === '' ? '' : `agent ${agentId}`].filter((each) => each !== undefined && each !== '');
  setText(requireElement('binding', HTMLElement), bound.join(' · '));

  const status = requireElement('status', HTMLElement);
  const { text, tone } = statusOf(conversation, connection);
  setText(status, text);
  status.dataset['tone'] = tone;

  const problem = requireElement('problem', HTMLElement);
  const last = error === undefined ? '' : `The last turn failed (${error.code}): ${error.message}`;
  const refused = connection.state === 'refused' ? sayFailure(connection.error) : '';
  const said = [refused, failure, last].filter((each) => each !== '').join(' ');
  setText(problem, said);
  problem.hidden = said === '';

  const stop = requireElement('stop', HTMLButtonElement);
  stop.hidden = state === 'idle';
  stop.disabled = state === 'interrupting';
  const archive = requireElement('archive', HTMLButtonElement);
  archive.hidden = !isLive || state !== 'idle';
  setText(archive, isArchived ? 'Reopen' : 'Archive');
}

/** No countdown: a live region that changes each second would never be silent. */
function statusOf(conversation: Conversation, connection: Connection): { text: string; tone: string } {
  const { state, turn, isArchived, isLive } = conversation;
  if (connection.state === 'refused') return { text: 'Not connected', tone: 'bad' };
  if (connection.state === 'waiting') return { text: 'Connection lost, trying again', tone: 'bad' };
  if (!isLive) return { text: 'Connecting', tone: 'quiet' };
  if (state === 'running') return { text: `Running${turn === undefined ? '' : `, turn ${turn}`}`, tone: 'busy' };
  if (state === 'interrupting') return { text: 'Stopping', tone: 'busy' };
  return { text: isArchived ? 'Archived' : 'Idle', tone: 'quiet' };
}
