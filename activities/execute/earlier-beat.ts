import type { ExecuteInput } from '../../contract/activity-interfaces.ts';
import type { ExecuteHeartbeat } from '../../contract/turn.ts';

/**
 * What an earlier attempt of this very call told by its last beat; undefined when it is about another call or another
 * journal (a workflow reset, a row whose target won), or of another version: then it proves nothing.
 */
export function readEarlierBeat(details: unknown, input: ExecuteInput): ExecuteHeartbeat | undefined {
  if (typeof details !== 'object' || details === null) return undefined;
  const beat = details as Partial<ExecuteHeartbeat>;
  if (beat.v !== 1 || beat.key !== input.key) return undefined;
  if (beat.target?.agentId !== input.target.agentId || beat.target.journalId !== input.target.journalId)
    return undefined;
  return beat as ExecuteHeartbeat;
}
