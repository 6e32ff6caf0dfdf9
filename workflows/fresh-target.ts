/** Where calls are dispatched to, as of now (design §6): a target is used only while it can't be old. */
import type { AgentDescription } from '../contract/activity-interfaces.ts';
import type { AgentId } from '../contract/ids.ts';
import { TARGET_FRESH_MS } from '../contract/limits.ts';
import { controlActivities } from './activity-options.ts';
import type { TurnContext } from './context.ts';
import { describeError } from './errors.ts';
import { untilInterrupted } from './interrupt.ts';
import type { TimedTarget } from './turn-state.ts';

/**
 * An answer that was long on its way (no worker at first, or this workflow's own was away) may be older than it
 * looks, so its age counts from the question; one more question then finds everybody awake.
 */
const QUESTIONS_MAX = 3;

export type TargetAnswer =
  { readonly target: TimedTarget } | { readonly failure: string } | { readonly isInterrupted: true };

export function ageMs(target: TimedTarget): number {
  return Date.now() - target.askedAtMs;
}

/** The known target while it is fresh, else what the agent says now. */
export async function freshTarget(context: TurnContext, agentId: AgentId): Promise<TargetAnswer> {
  let answer: TargetAnswer | undefined = knownTarget(context, agentId);
  for (let question = 1; question <= QUESTIONS_MAX; question++) {
    if (answer !== undefined && (!('target' in answer) || ageMs(answer.target) < TARGET_FRESH_MS)) return answer;
    answer = await askAgent(context, agentId);
  }
  return answer ?? { failure: 'it was not asked' };
}

function knownTarget({ state }: TurnContext, agentId: AgentId): TargetAnswer | undefined {
  const known = state.lastTarget;
  return known?.agentId === agentId ? { target: known } : undefined;
}

async function askAgent(context: TurnContext, agentId: AgentId): Promise<TargetAnswer> {
  const { state, timings, interrupt } = context;
  const askedAtMs = Date.now();
  const control = controlActivities(agentId, timings.describeAgentMs, 'where do calls go');
  const ending = await untilInterrupted<AgentDescription>(interrupt, () =>
    control.describeAgent({ agentId, chatId: state.input.chatId }),
  );
  if (ending === undefined) return { isInterrupted: true };
  if ('error' in ending) return { failure: describeError(ending.error) };
  const { target, chatHighestMessageId } = ending.value;
  state.lastTarget = { agentId, target, chatHighestMessageId, askedAtMs };
  return { target: state.lastTarget };
}
