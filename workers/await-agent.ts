import { AgentError } from '../agent-client/agent-errors.ts';
import type { AgentClient } from '../agent-client/agent-client.ts';
import { AgentUnreachable } from '../agent-client/agent-errors.ts';
import type { InfoAnswer } from '../contract/wire/info.ts';
import { CodedError, FAILURES } from '../contract/failures.ts';
import { pause } from './pause.ts';

const RETRY_MS = 500;
const REMIND_MS = 30_000;

/**
 * Waits for the agent, since both start together at a machine's boot, and says so at once and every half minute.
 * Throws for what waiting doesn't mend (a wrong token), or the reason of `stopping`.
 */
export async function awaitAgent(
  client: AgentClient,
  options: { stopping: AbortSignal; report: (line: string) => void },
): Promise<InfoAnswer> {
  const { stopping, report } = options;
  let saidAtMs = -Infinity;
  for (;;) {
    try {
      return await client.info({}, { signal: stopping });
    } catch (error) {
      if (error instanceof AgentError && FAILURES[error.code].kind === 'refusal') {
        throw new CodedError(error.code, `the agent refuses us: ${error.message}. ${FAILURES[error.code].nextStep}`);
      }
      if (!(error instanceof AgentUnreachable) && !(error instanceof AgentError)) throw error;
      if (performance.now() - saidAtMs >= REMIND_MS) {
        report(`waiting for the agent: ${error.message}. ${FAILURES.agent_unreachable.nextStep}`);
        saidAtMs = performance.now();
      }
    }
    await pause(RETRY_MS, stopping);
  }
}
