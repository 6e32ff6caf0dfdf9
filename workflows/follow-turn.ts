/** A turn that a chat has under way: started as its child, or found running and watched. */
import {
  getExternalWorkflowHandle,
  log,
  startChild,
  TemporalFailure,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';
import type { AwaitTurnEndResult, TurnClaim } from '../contract/chat-activities.ts';
import type { ChatInput } from '../contract/chat.ts';
import type { ChatId } from '../contract/ids.ts';
import { TURN_WORKFLOW_TYPE, turnWorkflowId } from '../contract/names.ts';
import type { TurnInput, TurnResult } from '../contract/turn.ts';
import { turnEndActivities } from './activity-options.ts';
import { describeError } from './errors.ts';
import { isStartedAlready, OUTLIVES_PARENT } from './start-child.ts';

export class FollowedTurn {
  readonly turn: number;
  /** Defined once the turn has ended, by the store's word. */
  ending: AwaitTurnEndResult | undefined;
  readonly #chatId: ChatId;

  constructor(chatId: ChatId, turn: number, child?: Promise<TurnResult>) {
    this.#chatId = chatId;
    this.turn = turn;
    this.#follow(child).then(
      (ending) => (this.ending = ending),
      // The next look finds out what there is.
      () => (this.ending = { state: 'gone' }),
    );
  }

  async #follow(child: Promise<TurnResult> | undefined): Promise<AwaitTurnEndResult> {
    try {
      const result = await child;
      // A run that found the turn ended already doesn't know how (an interrupt that was lost with its worker, a reset).
      if (result !== undefined && result.error?.code !== 'turn_closed') return { state: result.state };
    } catch (error) {
      // Terminated, reset, or failed by a defect: whether and how it ends, the store will say.
      if (!(error instanceof TemporalFailure)) throw error;
      log.info('a turn left its chat', { turn: this.turn, reason: describeError(error) });
    }
    return turnEndActivities.awaitTurnEnd({ chatId: this.#chatId, turn: this.turn });
  }

  /**
   * By a cancel, which a turn takes as its interrupt: it reaches the newest run, needs no handler, and a turn that has
   * ended refuses it.
   */
  async interrupt(): Promise<void> {
    try {
      await getExternalWorkflowHandle(turnWorkflowId(this.#chatId, this.turn)).cancel();
    } catch (error) {
      log.info('the turn has ended before its interrupt', { turn: this.turn, reason: describeError(error) });
    }
  }
}

/** Starts the turn, or joins it: whoever had its chat before may have started it. */
export async function startTurn(
  { chatId, timings, showCommands, historyEventsMax }: ChatInput,
  claim: TurnClaim,
  binding: Pick<TurnInput, 'agentId' | 'model'>,
): Promise<FollowedTurn> {
  const { turn } = claim;
  const input: TurnInput = {
    chatId,
    turn,
    ...binding,
    ...(timings === undefined ? {} : { timings }),
    ...(showCommands === undefined ? {} : { showCommands }),
    ...(historyEventsMax === undefined ? {} : { historyEventsMax }),
  };
  try {
    const child = await startChild<(input: TurnInput) => Promise<TurnResult>>(TURN_WORKFLOW_TYPE, {
      ...OUTLIVES_PARENT,
      workflowId: turnWorkflowId(chatId, turn),
      workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
      args: [input],
      staticSummary: claim.summary,
    });
    return new FollowedTurn(chatId, turn, child.result());
  } catch (error) {
    if (!isStartedAlready(error)) throw error;
    return new FollowedTurn(chatId, turn);
  }
}
