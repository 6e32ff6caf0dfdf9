/** What became of a signal, in the words that the model reads as the result of `process_signal`. */
import type { CallOutcome, Evidence, EvidenceCode, SendSignalRequest } from '../../contract/calls.ts';
import { FAILURE_CHARACTERS_MAX } from '../../contract/limits.ts';
import type { Target } from '../../contract/target.ts';
import { toSafeText } from '../../contract/well-formed.ts';
import type { SignalAnswer } from '../../contract/wire/signal.ts';
import { targetOf } from '../../agent-client/read-answer.ts';
import { readExit } from '../execute/build-outcome.ts';
import { presentExit } from './present-exit.ts';

/** No exit: a signal that was sent is all that the call was to do, and what it ended has a result of its own. */
export function presentSignal(answer: SignalAnswer, { handle, signal }: SendSignalRequest): CallOutcome {
  const target = targetOf(answer);
  switch (answer.outcome) {
    case 'sent':
    case 'repeated': {
      const how =
        answer.outcome === 'repeated' ? '; an earlier try of this call had sent it, and it was sent once' : '';
      const told = `${signal} was sent to process ${handle}${how}. The process ${describeState(answer)}`;
      return outcome('exited', { code: 'signalled', detail: told, target }, `${told}${survivors(answer)}`);
    }
    case 'ended': {
      const told = `nothing was sent: process ${handle} ${describeState(answer)}`;
      return outcome('no_effect', { code: 'void', detail: told, target }, told);
    }
    case 'in_doubt': {
      const detail = `the agent died while it sent ${signal} to process ${handle}`;
      const told =
        `outcome unknown: ${detail}, so it may have arrived or not, and it is not sent again. ` +
        `The process ${describeState(answer)}. Look at it before you send another`;
      return outcome('unknown', { code: 'signalled', detail, target }, told);
    }
  }
}

interface RefusedSignal {
  readonly status: 'no_effect' | 'unknown';
  readonly code: EvidenceCode;
  readonly detail: string;
  readonly target: Target;
}

/** The agent answered, and not with the signal's fate. */
export function presentRefusedSignal(refused: RefusedSignal, { handle, signal }: SendSignalRequest): CallOutcome {
  const { status, code, target } = refused;
  const detail = toSafeText(refused.detail, FAILURE_CHARACTERS_MAX);
  // A4: which processes there are is told to their own chat only.
  const hint = code === 'invalid_arguments' ? '; process_list tells which there are' : '';
  const told =
    status === 'no_effect'
      ? `nothing was sent to process ${handle}: ${detail}${hint}`
      : `outcome unknown: it can not be said whether ${signal} was sent to process ${handle} (${detail}). Look at the process before you send another`;
  return outcome(status, { code, detail, target }, told);
}

function describeState({ state, exit }: SignalAnswer): string {
  switch (state) {
    case 'exited':
      return exit === undefined ? 'has ended' : `has ended: ${presentExit(readExit(exit), undefined)}`;
    case 'lost':
      return 'is lost: its keeper or the machine died with it';
    case 'starting':
      return 'is only being started';
    case 'running':
      return 'is running';
  }
}

function survivors({ survivors: alive }: SignalAnswer): string {
  if (alive.length === 0) return '';
  return `; still alive of what it started, itself included: ${alive.map(({ pid, name }) => `${name} (${pid})`).join(', ')}`;
}

function outcome(status: CallOutcome['status'], evidence: Evidence, told: string): CallOutcome {
  const { target } = evidence;
  return {
    status,
    evidence: { ...evidence, detail: toSafeText(evidence.detail, FAILURE_CHARACTERS_MAX) },
    text: toSafeText(`[${told}]`, FAILURE_CHARACTERS_MAX),
    ...(target !== undefined && { target }),
  };
}
