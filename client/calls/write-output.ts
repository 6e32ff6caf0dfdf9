/** The bytes of a call's output, as the agent keeps them. */
import type { OutputAnswer } from '../../contract/wire/output.ts';
import type { AgentCall } from './agent-of-call.ts';

const WAIT_MS = 5000;

/** Writes what there is; with `follows` until the command has ended. What the agent has dropped is named by `note`. */
export async function writeOutput(
  { client, call }: AgentCall,
  options: {
    readonly follows: boolean;
    readonly signal: AbortSignal;
    readonly write: (bytes: Buffer) => void;
    readonly note: (text: string) => void;
  },
): Promise<void> {
  const { follows, signal, write, note } = options;
  let from = 0;
  for (;;) {
    const request = { ...call, from, waitMs: follows ? WAIT_MS : 0 };
    const answer: OutputAnswer = await client.output(request, { signal });
    const { bytes } = answer;
    if (bytes !== undefined) {
      if (bytes.from > from) note(`bytes ${from} to ${bytes.from} are not kept any more`);
      write(Buffer.from(bytes.base64, 'base64'));
      from = bytes.next;
    }
    const isAtEnd = bytes === undefined || from >= answer.total;
    if (!isAtEnd) continue;
    if (answer.exit !== undefined || answer.state === 'lost' || !follows) return;
  }
}
