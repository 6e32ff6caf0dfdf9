import type { CallOutcome, EvidenceCode, Exit, ExecuteRequest, PresentedOutput } from '../../contract/calls.ts';
import type { Handle } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import { toSafeText } from '../../contract/well-formed.ts';
import type { OutputAnswer } from '../../contract/wire/output.ts';
import { presentOutcome } from '../presentation/present-outcome.ts';
import { presentOutput } from '../presentation/present-output.ts';

/** One sentence for people; an agent's reason may quote a path or a program's message. */
const DETAIL_CHARACTERS_MAX = 500;

type Status = CallOutcome['status'] | 'running';

export interface OutcomeParts<Kind extends Status> {
  readonly status: Kind;
  readonly code: EvidenceCode;
  readonly detail: string;
  /** The target as of the answer that this rests on. */
  readonly target: Target;
  readonly exit?: Exit | undefined;
  readonly handle?: Handle | undefined;
  readonly startedAt?: string | undefined;
  readonly output?: OutputAnswer | undefined;
  readonly request?: ExecuteRequest | undefined;
  /** For the model, beside those that were recorded with the request. */
  readonly notes?: readonly string[] | undefined;
}

/** Facts → what the workflow records and the model reads; every text well-formed and capped (E14). */
export function buildOutcome<Kind extends Status>(parts: OutcomeParts<Kind>) {
  const { status, target, exit, handle, request } = parts;
  const evidence = { code: parts.code, detail: toSafeText(parts.detail, DETAIL_CHARACTERS_MAX), target };
  const output = parts.output && readView(parts.output);
  const text = presentOutcome({
    status,
    evidence,
    exit,
    handle,
    output,
    isOutputIncomplete: parts.output?.outputIncomplete,
    timeoutSeconds: request?.timeoutSeconds,
    notes: [...(request?.notes ?? []), ...(parts.notes ?? [])],
  });
  return {
    status,
    evidence,
    text: text.toWellFormed(),
    ...(exit !== undefined && { exit }),
    ...(handle !== undefined && { handle }),
    ...(parts.startedAt !== undefined && { startedAt: parts.startedAt }),
    ...(output !== undefined && { output: withoutText(output) }),
    target,
  };
}

/** A command that ended by itself or by a kill: a cancel's is `canceled`, every other is its real exit (C4, B04). */
export function buildEndedOutcome(
  ended: Omit<OutcomeParts<'exited'>, 'status' | 'code' | 'detail'> & { readonly exit: Exit },
): CallOutcome {
  const { exit } = ended;
  if (exit.killedBy === 'cancel') {
    return buildOutcome({ ...ended, status: 'canceled', code: 'killed', detail: 'The agent stopped it on request.' });
  }
  const how = exit.killedBy === 'kill_after' ? 'The agent stopped it at its time limit.' : 'The command ended.';
  return buildOutcome({ ...ended, status: 'exited', code: 'exit', detail: how });
}

/** The wire's optional fields may be there as undefined; a recorded exit has them or hasn't. */
export function readExit({ code, signal, killedBy, durationMs }: NonNullable<OutputAnswer['exit']>): Exit {
  return { code, durationMs, ...(signal !== undefined && { signal }), ...(killedBy !== undefined && { killedBy }) };
}

function readView({ view, total, outputOpen }: OutputAnswer): PresentedOutput | undefined {
  if (view === undefined) return undefined;
  return presentOutput({
    head: Buffer.from(view.head, 'base64'),
    tail: Buffer.from(view.tail, 'base64'),
    omittedBytes: view.omitted,
    totalBytes: total,
    outputOpen,
  });
}

function withoutText({ totalBytes, omittedBytes, outputOpen }: PresentedOutput): Omit<PresentedOutput, 'text'> {
  return { totalBytes, omittedBytes, outputOpen };
}
