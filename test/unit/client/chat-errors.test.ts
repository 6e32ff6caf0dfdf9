import type { ApplicationFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { requireThere } from '../../../client/chat/open-session.ts';
import type { ChatSession } from '../../../client/chat/open-session.ts';
import { readChatError } from '../../../client/chat-errors.ts';
import { describeFailure } from '../../../client/describe-failure.ts';
import { toErrorReply } from '../../../gateway/errors.ts';
import { applicationFailure } from '../../../activities/failure.ts';
import { FAILURES } from '../../../contract/failures.ts';
import type { ChatId } from '../../../contract/ids.ts';
import { requestFailure } from '../../../workflows/errors.ts';

const CHAT = 'chat-1' as ChatId;

/** As the client of Temporal gives it. */
function updateFailed(cause: ApplicationFailure): Error {
  return Object.assign(new Error('Workflow Update failed', { cause }), { name: 'WorkflowUpdateFailedError' });
}

test.each([
  ['a workflow', requestFailure('chat_busy', 'turn 2 runs', 'turn')],
  ['an activity', applicationFailure('chat_busy', 'turn 2 runs.', { field: 'turn' })],
  ['an activity, by a workflow', requestFailure('chat_busy', `turn 2 runs. ${FAILURES.chat_busy.nextStep}`, 'turn')],
])('a refusal of %s is told with its next step once, on a terminal and by the gateway', (_, cause) => {
  const read = readChatError(updateFailed(cause), CHAT);
  const { nextStep } = FAILURES.chat_busy;
  expect(read).toMatchObject({ code: 'chat_busy', field: 'turn' });
  expect(describeFailure(read).split(nextStep)).toHaveLength(2);
  expect(JSON.stringify(toErrorReply(read).body).split(nextStep)).toHaveLength(2);
});

test('a chat that begins with its first message is not looked for: what to do is to send one', () => {
  const session = { chatId: CHAT, isThere: false } as ChatSession;
  let said = '';
  try {
    requireThere(session);
  } catch (error) {
    said = describeFailure(error);
  }
  expect(said).toBe('chat chat-1 begins with its first message: send a message first.');
});
