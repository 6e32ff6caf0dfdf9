/** `cancel`: fences what has not run (K6) and, in kill mode, stops what runs; returns what is then true. */
import { splitExecutionKey } from '../../contract/execution-key.ts';
import type { CancelAnswer, CancelRequest } from '../../contract/wire/cancel.ts';
import type { LiveCommand } from '../commands/live-command.ts';
import { waitAtMost } from '../commands/wait-at-most.ts';
import type { CallRow } from '../journal/call-rows.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { AnswerBody } from './answer-body.ts';
import { describeKey } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { isBelowCutoff, requireNonce, requireTarget } from './verb-context.ts';

/** Beyond the grace: what KILL and the last look at the tree may take on a loaded machine. */
const WAIT_BEYOND_GRACE_MS = 5000;

export async function cancel(context: VerbContext, request: CancelRequest): Promise<AnswerBody<CancelAnswer>> {
  await requireTarget(context, request.target);
  const { calls, journal } = context.state;
  const known = calls.find(request.chatId, request.key);
  if (known === undefined || known.state === 'void') {
    const isExpired = await journal.commit(() => fenceIdle(context, request));
    if (isExpired) return { state: 'expired', survivors: [] };
  }
  let row = calls.find(request.chatId, request.key);
  if (row === undefined) throw new Error('a fenced key has no row');
  requireNonce(row, request.nonce);
  let survivors: readonly Survivor[] = [];
  const live = row.state === 'open' ? context.supervisor.find(row.id) : undefined;
  if (live !== undefined) survivors = await stopLive(context, request, live);
  else if (request.mode === 'kill') survivors = await stopRemains(context, request, row);
  row = calls.require(row.id);
  return { ...describeKey(context, row), survivors: survivors.map(({ pid, name }) => ({ pid, name })) };
}

/** An unseen or void key is fenced in the transaction that looked: a start can't come in between. */
function fenceIdle(context: VerbContext, request: CancelRequest): boolean {
  const { calls } = context.state;
  const row: CallRow | undefined = calls.find(request.chatId, request.key);
  if (row !== undefined) {
    requireNonce(row, request.nonce);
    calls.fenceVoid(row.id, 'it was fenced after a launch that never ran');
    return false;
  }
  const { messageId } = splitExecutionKey(request.key);
  if (isBelowCutoff(context, request.chatId, messageId)) return true;
  calls.insert({
    chatId: request.chatId,
    key: request.key,
    messageId,
    nonce: request.nonce,
    fingerprint: null,
    state: 'fenced',
    isBackground: false,
    commandLine: '',
    reason: 'it was fenced before any start arrived',
  });
  return false;
}

/** The command has ended; what it left running is part of what the caller wants stopped (R4). */
async function stopRemains(context: VerbContext, request: CancelRequest, row: CallRow): Promise<readonly Survivor[]> {
  if (row.attempt === 0 || (row.state !== 'exited' && row.state !== 'lost')) return [];
  const graceMs = request.graceMs ?? context.settings.killGraceMs;
  const killed = context.supervisor.killRemains(row, graceMs);
  await waitAtMost(killed, request.waitMs ?? graceMs + WAIT_BEYOND_GRACE_MS, context.signal);
  return Promise.race([killed, Promise.resolve([])]);
}

async function stopLive(context: VerbContext, request: CancelRequest, live: LiveCommand): Promise<readonly Survivor[]> {
  const { supervisor, settings, signal } = context;
  if (live.started === undefined && (await supervisor.fencePending(live)) === 'won') return [];
  if (request.mode === 'fence') return [];
  const graceMs = request.graceMs ?? settings.killGraceMs;
  const waitMs = request.waitMs ?? graceMs + WAIT_BEYOND_GRACE_MS;
  await waitAtMost(live.launched, waitMs, signal);
  // Not tied to the caller: a kill that was asked for goes on when the caller leaves.
  const killed = supervisor.kill(live, 'cancel', graceMs);
  await waitAtMost(Promise.all([killed, live.ended]), waitMs, signal);
  return Promise.race([killed, Promise.resolve([])]);
}
