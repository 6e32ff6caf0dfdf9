/**
 * A person stops one command. Only its agent can (C6), and only its agent says how it ended: execute, which waits for
 * it, gives the turn that end by itself. A command that nobody waits for any more is recorded here, as a later truth.
 */
import { condition, TemporalFailure } from '@temporalio/workflow';
import type { StoppableCall } from '../contract/chat-activities.ts';
import type { CancelCallAnswer } from '../contract/chat.ts';
import { chatActivities, fillTimings, storeActivities } from './activity-options.ts';
import { askToCancel, describeSilence, findEnd } from './ask-agent.ts';
import type { ChatContext } from './chat-context.ts';
import type { FiledRequest } from './chat-requests.ts';
import { asInterrupted } from './outcomes.ts';

/** Answers or refuses; never throws what a failed activity throws. */
export async function cancelCall({ input }: ChatContext, filed: FiledRequest<'cancelCall'>): Promise<void> {
  const { chatId } = input;
  const { key } = filed.request;
  try {
    const { status, call, hasResult } = await chatActivities.findStoppable({ chatId, key });
    if (call === undefined) {
      filed.answer({ hasEnded: true, status, message: `nothing was changed: it has ended already (${status})` });
      return;
    }
    filed.answer(await stop(input, call, hasResult));
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    filed.refuse(error);
  }
}

async function stop(
  { chatId, timings }: ChatContext['input'],
  { turn, key, nonce, target }: StoppableCall,
  hasResult: boolean,
): Promise<CancelCallAnswer> {
  const { interruptGraceMs: tryForMs } = fillTimings(timings);
  const kill = askToCancel({ chatId, key, nonce, target, mode: 'kill', tryForMs });
  await condition(() => kill.ending !== undefined, tryForMs);
  kill.letGo();
  const found = findEnd(kill.ending, 'attempt_ended', 'a person asked for its end');
  if (found === undefined) {
    const message = `its agent did not say: ${describeSilence(kill.ending)}. It may still run; ask again.`;
    return { hasEnded: false, status: 'running', message };
  }
  if (found.status === 'detached') return { hasEnded: false, status: 'running', message: found.evidence.detail };
  const end = asInterrupted(found);
  const { status, evidence } = hasResult ? await storeActivities.recordTruth({ chatId, turn, key, outcome: end }) : end;
  return { hasEnded: true, status, message: `${status}: ${evidence.detail}` };
}
