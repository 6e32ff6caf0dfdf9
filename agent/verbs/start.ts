/** `start`: runs a key's command, at most once for ever (K1), or hands its process to whoever asks again. */
import { statfsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { CodedError } from '../../contract/failures.ts';
import { splitExecutionKey } from '../../contract/execution-key.ts';
import { OPEN_CALLS_PER_CHAT_MAX } from '../../contract/limits.ts';
import { firstLine } from '../../contract/well-formed.ts';
import type { StartAnswer, StartRequest } from '../../contract/wire/start.ts';
import { buildCommandEnvironment } from '../command-environment.ts';
import { stripTrailingAmpersand } from '../commands/trailing-ampersand.ts';
import { waitAtMost } from '../commands/wait-at-most.ts';
import { crashPoint } from '../crash-points.ts';
import { fingerprintOf } from '../fingerprint.ts';
import type { AttemptRow, CallRow } from '../journal/call-rows.ts';
import { handleOf } from '../journal/call-rows.ts';
import type { LaunchSpecification } from '../keeper/launch-keeper.ts';
import type { AnswerBody } from './answer-body.ts';
import { exitOf, processStateOf, startOf } from './describe-row.ts';
import type { VerbContext } from './verb-context.ts';
import { isBelowCutoff, requireNonce, requireTarget } from './verb-context.ts';

const WAIT_MS_DEFAULT = 10_000;
const COMMAND_LINE_CHARACTERS_MAX = 200;

type Decision =
  | { readonly kind: 'launch'; readonly attempt: AttemptRow }
  | { readonly kind: 'attach'; readonly row: CallRow }
  | { readonly kind: 'absent' }
  /** Recorded, so not thrown: a throw would roll the record back. */
  | { readonly kind: 'refused'; readonly error: CodedError };

export async function start(context: VerbContext, request: StartRequest): Promise<AnswerBody<StartAnswer>> {
  await requireTarget(context, request.target);
  crashPoint('before-reserve');
  const fingerprint = fingerprintOf(request, context.state.environmentKey);
  const decision = await decide(context, request, fingerprint);
  switch (decision.kind) {
    case 'refused':
      throw decision.error;
    case 'absent':
      return { outcome: 'absent' };
    case 'attach':
      return answer(context, request, decision.row.id, 'attached');
    case 'launch': {
      crashPoint('after-reserve');
      const { callId } = decision.attempt;
      context.supervisor.launch(decision.attempt, specify(context, request, callId));
      return answer(context, request, callId, 'started');
    }
  }
}

/** Attaching needs no commit; everything else is decided and recorded in one transaction. */
async function decide(context: VerbContext, request: StartRequest, fingerprint: string): Promise<Decision> {
  const known = context.state.calls.find(request.chatId, request.key);
  if (known !== undefined && known.state !== 'void') {
    requireSameCall(known, request, fingerprint);
    return { kind: 'attach', row: known };
  }
  if (request.mustExist !== true) await requireRoom(context, request);
  return context.state.journal.commit(() => reserve(context, request, fingerprint));
}

function reserve(context: VerbContext, request: StartRequest, fingerprint: string): Decision {
  const { calls } = context.state;
  const row = calls.find(request.chatId, request.key);
  if (row !== undefined) {
    requireSameCall(row, request, fingerprint);
    if (row.state !== 'void') return { kind: 'attach', row };
    if (request.mustExist === true) {
      calls.fenceVoid(row.id, 'a caller that had seen it run asked for it, and it never ran');
      return { kind: 'absent' };
    }
    return insertAttempt(context, request, row.id, row.attempt + 1);
  }
  const { messageId } = splitExecutionKey(request.key);
  if (isBelowCutoff(context, request.chatId, messageId)) {
    throw new CodedError('expired', 'the record of this key is older than what this agent keeps', 'key');
  }
  const insert = (state: 'open' | 'fenced', reason: string | null): number =>
    calls.insert({
      chatId: request.chatId,
      key: request.key,
      messageId,
      nonce: request.nonce,
      fingerprint,
      state,
      isBackground: request.background || stripTrailingAmpersand(request.command).isBackground,
      commandLine: firstLine(request.command, COMMAND_LINE_CHARACTERS_MAX),
      reason,
    });
  if (request.mustExist === true) {
    insert('fenced', 'a caller that had seen it run asked for it, and this journal does not know it');
    return { kind: 'absent' };
  }
  if (request.target.incarnation !== context.state.incarnation) {
    // It may have run in the other incarnation, under a record that did not survive. Nobody re-runs on doubt (K2).
    const reason = 'the machine restarted between the dispatch and the start';
    insert('fenced', reason);
    return { kind: 'refused', error: new CodedError('journal_doubtful', `${reason}; nothing runs under this key`) };
  }
  return insertAttempt(context, request, insert('open', null), 1);
}

function insertAttempt(context: VerbContext, request: StartRequest, callId: number, number: number): Decision {
  const attempt = context.supervisor.newAttempt(callId, number, request.killAfterMs);
  context.state.calls.insertAttempt(attempt);
  return { kind: 'launch', attempt };
}

/** What a new command needs: a workspace that is ready, a place among the chat's open ones, space on the disk. */
async function requireRoom(context: VerbContext, request: StartRequest): Promise<void> {
  const { startup, state } = context;
  if (!startup.isOwn(request.chatId)) {
    await waitAtMost(startup.ended, request.waitMs ?? WAIT_MS_DEFAULT, context.signal);
    if (!startup.isReady) throw startup.notReady();
  }
  if (state.calls.countOpenOfChat(request.chatId) >= OPEN_CALLS_PER_CHAT_MAX) {
    throw new CodedError('too_busy', `this chat has ${OPEN_CALLS_PER_CHAT_MAX} commands running, the most it may`);
  }
  const { bavail, bsize } = statfsSync(state.folder);
  if (bavail * bsize < context.settings.freeDiskBytesMin) {
    throw new CodedError('disk_full', "the disk of the agent's state folder is nearly full, so nothing was started");
  }
}

/** K4: the same key with another input is refused at once, also while the first start is pending. */
function requireSameCall(row: CallRow, request: StartRequest, fingerprint: string): void {
  requireNonce(row, request.nonce);
  if (row.fingerprint !== null && row.fingerprint !== fingerprint) {
    throw new CodedError('input_mismatch', 'this key was used with another command, workdir, env or background', 'key');
  }
}

async function answer(
  context: VerbContext,
  request: StartRequest,
  callId: number,
  outcome: 'started' | 'attached',
): Promise<AnswerBody<StartAnswer>> {
  const live = context.supervisor.find(callId);
  if (live !== undefined) await waitAtMost(live.launched, request.waitMs ?? WAIT_MS_DEFAULT, context.signal);
  const row = context.state.calls.require(callId);
  switch (row.state) {
    case 'fenced':
      throw new CodedError('canceled', `nothing ran and nothing will: ${row.reason ?? 'the key is fenced'}`);
    case 'spawn_failed':
      throw new CodedError(
        'spawn_failed',
        `nothing ran: ${row.reason ?? 'the launch failed'}${named(request)}`,
        'workdir',
      );
    case 'void':
      throw new CodedError('start_pending', 'the launch did not get through and nothing ran; ask again');
    case 'open':
      if (context.supervisor.find(callId)?.started === undefined) {
        throw new CodedError('start_pending', 'the start is on its way; ask again with the same key');
      }
      break;
    case 'exited':
    case 'lost':
      break;
  }
  const exit = exitOf(row);
  return {
    outcome,
    handle: handleOf(row.id),
    state: processStateOf(context, row),
    ...startOf(context, row),
    launches: row.attempt,
    background: row.isBackground,
    ...(exit !== undefined && { exit }),
  };
}

/** Every repeat asks for the same place, so each names it. */
function named(request: StartRequest): string {
  return request.workdir === undefined ? '' : `: ${firstLine(request.workdir, COMMAND_LINE_CHARACTERS_MAX)}`;
}

function specify(context: VerbContext, request: StartRequest, callId: number): LaunchSpecification {
  const { workspace, envFile, shell } = context.settings;
  const workdir = request.workdir ?? workspace;
  return {
    command: stripTrailingAmpersand(request.command).command,
    workdir: isAbsolute(workdir) ? workdir : join(workspace, workdir),
    environment: buildCommandEnvironment({
      daemon: context.environment,
      envFile,
      call: request.env ?? {},
      marker: context.supervisor.trees.markerOf(callId),
    }),
    shell,
  };
}
