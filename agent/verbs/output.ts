/** `output`: bytes from an absolute offset, or the first and last ones; may wait for more or for the end. */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError } from '../../contract/failures.ts';
import { OUTPUT_ANSWER_BYTES_MAX } from '../../contract/limits.ts';
import type { OutputAnswer, OutputRequest } from '../../contract/wire/output.ts';
import { waitAtMost } from '../commands/wait-at-most.ts';
import type { CallRow } from '../journal/call-rows.ts';
import { handleOf } from '../journal/call-rows.ts';
import { awaitDrain, isReaderGone } from '../output/await-drain.ts';
import { readBytes } from '../output/read-bytes.ts';
import { readLastLine } from '../output/read-last-line.ts';
import { readTotals } from '../output/read-totals.ts';
import { readView } from '../output/read-view.ts';
import type { AnswerBody } from './answer-body.ts';
import { exitOf, processStateOf, startOf } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { requireNonce, requireTarget } from './verb-context.ts';

/** New bytes are looked for so often while somebody waits for them. */
const POLL_MS = 50;

export async function output(context: VerbContext, request: OutputRequest): Promise<AnswerBody<OutputAnswer>> {
  await requireTarget(context, request.target);
  const found = findProcess(context, request);
  const folder = context.supervisor.folderOf(found.id, found.attempt);
  if (found.expiredTotal !== null) return receipt(context, request, found, found.expiredTotal);
  if (!existsSync(folder)) {
    // Somebody deleted it from the state: what was in it is not to be had any more.
    if (found.state !== 'open') return receipt(context, request, found, 0);
    throw new CodedError('start_pending', "the command's folder was deleted; its end is waited for");
  }
  const waitMs = request.waitMs ?? 0;
  if (request.from === undefined) await waitForEnd(context, found, waitMs);
  else await waitForBytes(context, { row: found, folder, from: request.from, waitMs });

  let row = context.state.calls.require(found.id);
  const segmentBytes = context.settings.segmentBytes;
  if (row.state === 'exited') {
    const { ageMs } = startOf(context, row);
    await awaitDrain(folder, {
      endedAgoMs: ageMs - (row.durationMs ?? 0),
      hasHolder: () => context.supervisor.trees.hasRemains(row),
      signal: context.signal,
      segmentBytes,
    });
    row = context.state.calls.require(found.id);
  }
  // Asked before the totals are: a reader writes its last mark before it goes.
  const isReaderLost = isReaderGone(folder);
  const totals = await readTotals(folder, segmentBytes);
  const exit = exitOf(row);
  const state = processStateOf(context, row);
  const hasEnded = state === 'exited' || state === 'lost';
  return {
    handle: handleOf(row.id),
    state,
    ...startOf(context, row),
    ...(exit !== undefined && { exit }),
    ...(row.reason !== null && { reason: row.reason }),
    total: totals.total,
    dropped: totals.dropped.map(([from, to]) => [from, to]),
    outputOpen: !totals.isDrained && !(hasEnded && isReaderLost),
    // Its reader was killed, or failed: what it had not written yet is gone.
    outputIncomplete: totals.isIncomplete || (hasEnded && !totals.isDrained && isReaderLost),
    lastLine: await readLastLine(folder, segmentBytes),
    ...(request.from !== undefined && { bytes: await bytesFrom(folder, request, request.from, segmentBytes) }),
    ...(request.view !== undefined &&
      (hasEnded || request.view.onlyWhenEnded !== true) && { view: await viewOf(folder, request.view, segmentBytes) }),
  };
}

/** The output has been dropped, the exit is still known (A11). */
function receipt(context: VerbContext, request: OutputRequest, row: CallRow, total: number): AnswerBody<OutputAnswer> {
  if (request.from !== undefined && request.from < total) {
    throw new CodedError('bad_request', `bytes 0 to ${total} are not kept any more`, 'from');
  }
  const exit = exitOf(row);
  return {
    handle: handleOf(row.id),
    state: processStateOf(context, row),
    ...startOf(context, row),
    ...(exit !== undefined && { exit }),
    ...(row.reason !== null && { reason: row.reason }),
    total,
    dropped: total > 0 ? [[0, total]] : [],
    outputOpen: false,
    outputIncomplete: false,
    lastLine: '',
    ...(request.from !== undefined && { bytes: { from: request.from, next: request.from, base64: '' } }),
    ...(request.view !== undefined && { view: { head: '', tail: '', omitted: total } }),
  };
}

function findProcess(context: VerbContext, request: OutputRequest): CallRow {
  const { calls } = context.state;
  const row =
    request.key === undefined
      ? calls.findByHandle(request.chatId, request.handle ?? '')
      : calls.find(request.chatId, request.key);
  if (row !== undefined && request.nonce !== undefined) requireNonce(row, request.nonce);
  const isProcess = row !== undefined && row.attempt > 0 && ['open', 'exited', 'lost'].includes(row.state);
  if (!isProcess) throw new CodedError('unknown_process', 'this chat has no such process', 'handle');
  return row;
}

async function waitForEnd(context: VerbContext, row: CallRow, waitMs: number): Promise<void> {
  const live = context.supervisor.find(row.id);
  if (live !== undefined) await waitAtMost(live.ended, waitMs, context.signal);
}

async function waitForBytes(
  context: VerbContext,
  wait: { readonly row: CallRow; readonly folder: string; readonly from: number; readonly waitMs: number },
): Promise<void> {
  const deadline = performance.now() + wait.waitMs;
  while (performance.now() < deadline && !context.signal.aborted) {
    const totals = await readTotals(wait.folder, context.settings.segmentBytes);
    if (totals.total > wait.from || totals.isDrained) return;
    const live = context.supervisor.find(wait.row.id);
    if (live === undefined) return;
    await Promise.race([delay(POLL_MS), live.ended]);
  }
}

async function bytesFrom(folder: string, request: OutputRequest, from: number, segmentBytes: number) {
  const bytesMax = request.bytesMax ?? OUTPUT_ANSWER_BYTES_MAX;
  const read = await readBytes(folder, { from, bytesMax }, segmentBytes);
  return { from: read.from, next: read.next, base64: read.bytes.toString('base64') };
}

async function viewOf(folder: string, view: NonNullable<OutputRequest['view']>, segmentBytes: number) {
  const { head, tail, omitted } = await readView(folder, view, segmentBytes);
  return { head: head.toString('base64'), tail: tail.toString('base64'), omitted };
}
