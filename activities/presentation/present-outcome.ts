import type { CallOutcome, Evidence, Exit, PresentedOutput } from '../../contract/calls.ts';
import type { Handle } from '../../contract/ids.ts';
import { presentExit } from './present-exit.ts';

/** The facts that a call's text is made of; all of them recorded, none of them "now" (E13). */
export interface OutcomeFacts {
  readonly status: CallOutcome['status'] | 'running';
  readonly evidence: Evidence;
  readonly exit?: Exit | undefined;
  readonly handle?: Handle | undefined;
  readonly output?: PresentedOutput | undefined;
  /** The output lost its end at the agent, such as by a full disk. */
  readonly isOutputIncomplete?: boolean | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly notes?: readonly string[] | undefined;
}

/** The output, then bracketed lines that say how the call ended and what else there is to know. */
export function presentOutcome(facts: OutcomeFacts): string {
  const lines = [statusLine(facts), ...outputLines(facts), ...(facts.notes ?? []).map((note) => `note: ${note}`)];
  const output = facts.output?.text ?? '';
  const border = output === '' || output.endsWith('\n') ? '' : '\n';
  return output + border + lines.map((line) => `[${line}]`).join('\n');
}

function statusLine(facts: OutcomeFacts): string {
  const { status, evidence, exit } = facts;
  const handle = facts.handle === undefined ? '' : `: handle ${facts.handle}`;
  switch (status) {
    case 'exited':
      return exit === undefined ? `ended: ${evidence.detail}` : presentExit(exit, facts.timeoutSeconds);
    case 'running':
      return `still running${handle}`;
    case 'detached':
      if (evidence.code === 'background') return `started in the background${handle}; it goes on running`;
      if (evidence.code !== 'budget' || facts.timeoutSeconds === undefined) return `still running${handle}`;
      return `timed out: still running after its ${facts.timeoutSeconds} s budget${handle}. ${evidence.detail}`;
    case 'canceled':
      return exit === undefined ? `canceled, nothing ran: ${evidence.detail}` : presentExit(exit, facts.timeoutSeconds);
    case 'unknown':
      return (
        `outcome unknown: ${evidence.detail}. The command may have run, wholly or in part, and may still be running. ` +
        `Before running it again, check what it would have changed (files, processes, services)${handle}`
      );
    case 'no_effect':
      if (evidence.code === 'input_mismatch') {
        return (
          `error: this request changed nothing, but a process for this call exists with another input ` +
          `(${evidence.detail}). This is a defect of the system, not of the command`
        );
      }
      // The agent says so in these words itself.
      return evidence.detail.startsWith('nothing ran') ? evidence.detail : `nothing ran: ${evidence.detail}`;
  }
}

function outputLines({ output, handle, status, isOutputIncomplete }: OutcomeFacts): string[] {
  if (output === undefined) return [];
  const lines: string[] = [];
  const isOver = (status === 'exited' || status === 'canceled') && !output.outputOpen;
  if (output.totalBytes === 0) lines.push(isOver ? 'no output' : 'no output so far');
  if (output.omittedBytes > 0) {
    lines.push(`output: ${output.totalBytes} bytes in all, ${output.omittedBytes} of them not shown here`);
  }
  if (isOutputIncomplete === true) {
    lines.push('the output is incomplete: the agent could not write all of it, such as on a full disk');
  }
  if (output.outputOpen && (status === 'exited' || status === 'canceled')) {
    const where = handle === undefined ? '' : `: handle ${handle}`;
    lines.push(`something that the command started still runs and holds its output open${where}`);
  }
  return lines;
}
