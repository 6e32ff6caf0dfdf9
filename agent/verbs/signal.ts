/** `signal`: sends a signal to a process once per id, also when the request comes twice (I07). */
import { CodedError } from '../../contract/failures.ts';
import type { ExecutionKey } from '../../contract/ids.ts';
import type { SignalAnswer, SignalRequest } from '../../contract/wire/signal.ts';
import { waitAtMost } from '../commands/wait-at-most.ts';
import type { CallRow } from '../journal/call-rows.ts';
import type { AnswerBody } from './answer-body.ts';
import { exitOf, processStateOf } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { requireTarget } from './verb-context.ts';

/** Signals that people send to end something: what outlives them is named. */
const ENDING = new Set(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGKILL']);
const WAIT_MS_DEFAULT = 1000;

type Outcome = SignalAnswer['outcome'];

export async function signal(context: VerbContext, request: SignalRequest): Promise<AnswerBody<SignalAnswer>> {
  await requireTarget(context, request.target);
  const { calls, journal } = context.state;
  const row = calls.findByHandle(request.chatId, request.handle);
  if (row === undefined || row.attempt === 0 || !['open', 'exited', 'lost'].includes(row.state)) {
    throw new CodedError('unknown_process', 'this chat has no such process', 'handle');
  }
  // Recorded before it is sent: whoever comes with the same id later is told, and sends nothing.
  const recorded = await journal.commit(() => record(context, request, row));
  if (recorded !== 'send') return answer(context, { row, outcome: recorded, survivors: [] });

  const live = context.supervisor.find(row.id);
  const reached = live === undefined ? 0 : await context.supervisor.trees.signal(live, request.signal);
  const outcome: Outcome = reached > 0 ? 'sent' : 'ended';
  await journal.commit(() => calls.setSignalOutcome(row.id, request.id, outcome));
  const isEnding = ENDING.has(request.signal);
  if (isEnding && live !== undefined) await waitAtMost(live.ended, request.waitMs ?? WAIT_MS_DEFAULT, context.signal);
  const survivors = isEnding && live !== undefined ? await context.supervisor.trees.list(live) : [];
  return answer(context, { row, outcome, survivors });
}

function record(context: VerbContext, request: SignalRequest, row: CallRow): Outcome | 'send' {
  const { calls } = context.state;
  const before = calls.findSignal(row.id, request.id);
  if (before !== undefined) {
    if (before.signal !== request.signal) {
      throw new CodedError('input_mismatch', `this id was used to send ${before.signal}`, 'id');
    }
    return before.outcome === null ? 'in_doubt' : before.outcome === 'ended' ? 'ended' : 'repeated';
  }
  // K6: an id may be a key that was fenced so that this sending never comes after it.
  if (calls.find(request.chatId, request.id as ExecutionKey)?.state === 'fenced') {
    throw new CodedError('canceled', 'this sending was fenced before it arrived: nothing was sent', 'id');
  }
  const isOpen = calls.require(row.id).state === 'open';
  calls.insertSignal(row.id, request.id, request.signal, isOpen ? null : 'ended');
  if (isOpen && ENDING.has(request.signal)) calls.setKillIntent(row.id, 'signal');
  return isOpen ? 'send' : 'ended';
}

function answer(
  context: VerbContext,
  told: { row: CallRow; outcome: Outcome; survivors: readonly { pid: number; name: string }[] },
): AnswerBody<SignalAnswer> {
  const row = context.state.calls.require(told.row.id);
  const exit = exitOf(row);
  return {
    outcome: told.outcome,
    state: processStateOf(context, row),
    ...(exit !== undefined && { exit }),
    survivors: told.survivors.map(({ pid, name }) => ({ pid, name })),
  };
}
