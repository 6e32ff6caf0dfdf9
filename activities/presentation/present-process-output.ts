import type { OutputAnswer } from '../../contract/wire/output.ts';
import { readExit } from '../execute/build-outcome.ts';
import { borderBefore } from './character-border.ts';
import { presentOutcome } from './present-outcome.ts';
import { presentOutput } from './present-output.ts';
import type { RawOutput } from './present-output.ts';

/** The output and how the process is, in the words that the result of `execute` has. */
export function presentProcessOutput(answer: OutputAnswer): string {
  const { state, handle, bytes, view, total: totalBytes, outputOpen } = answer;
  const range = bytes === undefined ? undefined : readRange(bytes);
  const raw: RawOutput = {
    head: range?.bytes ?? Buffer.from(view?.head ?? '', 'base64'),
    tail: Buffer.from(view?.tail ?? '', 'base64'),
    omittedBytes: view?.omitted ?? 0,
    totalBytes,
    outputOpen,
  };
  const exit = answer.exit === undefined ? undefined : readExit(answer.exit);
  const isExited = state === 'exited' && exit !== undefined;
  const isLost = state === 'lost';
  const detail = answer.reason ?? 'The keeper or the machine died with it.';
  return presentOutcome({
    status: isExited ? 'exited' : isLost ? 'unknown' : 'running',
    evidence: { code: isExited ? 'exit' : isLost ? 'lost' : 'read', detail },
    exit,
    handle,
    output: presentOutput(raw),
    isOutputIncomplete: answer.outputIncomplete,
    notes: range === undefined ? [] : [rangeNote(range, totalBytes)],
  });
}

interface Range {
  readonly from: number;
  readonly next: number;
  readonly bytes: Buffer;
}

/** Ends at a character's border, so that the next range begins with a whole one (C02). */
function readRange({ from, base64 }: NonNullable<OutputAnswer['bytes']>): Range {
  const bytes = Buffer.from(base64, 'base64');
  const end = borderBefore(bytes, bytes.length);
  // A few bytes that are no character on their own are all there is: shown as they are, or nobody gets past them.
  const length = end === 0 ? bytes.length : end;
  return { from, next: from + length, bytes: bytes.subarray(0, length) };
}

function rangeNote({ from, next }: Range, totalBytes: number): string {
  // Whoever went on from where they asked would miss all that comes until there.
  if (from > totalBytes) return `no byte ${from} yet: ${totalBytes} bytes so far; go on with from_byte ${totalBytes}`;
  const goOn = next < totalBytes ? `; go on with from_byte ${next}` : `; what comes next will begin at ${next}`;
  return `bytes ${from} to ${next} of ${totalBytes} so far${goOn}`;
}
