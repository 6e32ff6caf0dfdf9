/**
 * The settle of one call: goes on asking its agent for the truth after the turn has moved on (K7, design §5).
 *
 * | message | kind | what it does |
 * |---|---|---|
 * | `resolveCall` | update | files a person's word; evidence that has arrived wins |
 * | `retireAgent` | signal | the agent is gone for good: ends as unknown |
 * | cancel of the workflow | request | gives up: ends as unknown |
 *
 * Ends by the agent's word (also that the call's journal is gone, L26), by a person, or after a day as unknown. What it
 * finds moves the row's status and reaches the model as a note; the call's text never changes (C3).
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineSignal,
  defineUpdate,
  log,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setHandler,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { CancelCallResult } from '../contract/activity-interfaces.ts';
import type { CallOutcome } from '../contract/calls.ts';
import { SETTLE_MS_MAX } from '../contract/limits.ts';
import { RESOLVE_CALL_UPDATE, RETIRE_AGENT_SIGNAL } from '../contract/names.ts';
import type { ResolveCallAnswer, ResolveCallRequest } from '../contract/operator.ts';
import type { RetireAgent, SettleInput, SettleResult } from '../contract/settle.ts';
import { allHeard } from './all-heard.ts';
import { settleActivities, storeActivities } from './activity-options.ts';
import { findEnd } from './ask-agent.ts';
import { describeError, requestFailure } from './errors.ts';
import { Interrupt, Pending } from './interrupt.ts';
import { OperatorRequests, requireResolveCallRequest } from './operator-requests.ts';
import { judge } from './operator-verdict.ts';
import { asInterrupted, stillRunning } from './outcomes.ts';
import { requireAnswer } from './require-outcome.ts';
import { givenUp } from './settle-outcomes.ts';

/** A person who asks waits so long for the agent's word. */
const OPERATOR_WAIT_MS = 5000;
const PAUSE_MS_MIN = 2000;
const PAUSE_MS_MAX = 5 * 60_000;

const resolveCallUpdate = defineUpdate<ResolveCallAnswer, [ResolveCallRequest]>(RESOLVE_CALL_UPDATE);
const retireAgentSignal = defineSignal<[RetireAgent]>(RETIRE_AGENT_SIGNAL);

interface SettleContext {
  readonly input: SettleInput;
  readonly deadlineMs: number;
  readonly operator: OperatorRequests;
  readonly giveUp: Interrupt;
  retired: RetireAgent | undefined;
}

interface SettleEnd {
  readonly outcome: CallOutcome;
  /** What the person is told whose request this is. */
  readonly message?: string;
  readonly isOperatorsWord?: boolean;
}

export async function settle(input: SettleInput): Promise<SettleResult> {
  const sinceMs = input.sinceMs ?? Date.now();
  const context: SettleContext = {
    input: { ...input, sinceMs },
    deadlineMs: sinceMs + (input.settleForMs ?? SETTLE_MS_MAX),
    operator: new OperatorRequests(),
    giveUp: new Interrupt(),
    retired: undefined,
  };
  setHandlers(context);
  context.giveUp.follow(CancellationScope.current());
  return CancellationScope.nonCancellable(async () => record(context, await findTruth(context)));
}

function setHandlers(context: SettleContext): void {
  const { operator, input } = context;
  setHandler(resolveCallUpdate, (request) => operator.file(request), {
    validator: (request) => {
      requireResolveCallRequest(request);
      if (request.key !== input.key) throw requestFailure('bad_request', `this settles call ${input.key}`);
    },
    description:
      "Ends the wait for this call by a person's word. Argument: " +
      '{"key": "2-call_1", "as": "exit" (with "exitCode": 0) | "not_run" | "unknown", "who": "…", "why": "…"}',
  });
  setHandler(retireAgentSignal, (given) => void (context.retired = given), {
    description: 'The agent is gone for good; ends the wait as unknown. Argument: {"who": "…", "why": "…"}',
  });
}

/** Asks until there is an end. Tries that fail are retried by the server; only answers come back here. */
async function findTruth(context: SettleContext): Promise<SettleEnd> {
  let pauseMs = PAUSE_MS_MIN;
  let last: CancelCallResult | undefined;
  for (;;) {
    const leftMs = context.deadlineMs - Date.now();
    if (leftMs <= 0) return { outcome: atTheEnd(context, last) };
    show(context, last);
    const asked = ask(context, leftMs);
    const end = await awaitEnd(context, asked, leftMs);
    if (end !== undefined) {
      asked.letGo();
      return end;
    }
    if (asked.ending !== undefined && 'value' in asked.ending) last = asked.ending.value;
    // What survives a kill, or refused to be asked: again after a while, unless somebody has a word for it.
    await condition(() => isCalledOff(context), Math.min(pauseMs, Math.max(context.deadlineMs - Date.now(), 1)));
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
    await continueAsNewWhenDue(context);
  }
}

function ask({ input }: SettleContext, leftMs: number): Pending<CancelCallResult> {
  const { chatId, key, nonce, target, mode, sending, summary } = input;
  const { cancelCall } = settleActivities(target.agentId, leftMs, `${mode} ${summary}`);
  const asked = { chatId, key, nonce, target, mode, ...(sending && { sending }) };
  return new Pending(async () => requireAnswer(await cancelCall(asked)));
}

/** The end that one question brings, or that a person does meanwhile; undefined when it must be asked again. */
async function awaitEnd(
  context: SettleContext,
  asked: Pending<CancelCallResult>,
  leftMs: number,
): Promise<SettleEnd | undefined> {
  const { input, operator, deadlineMs } = context;
  const { key, target } = input;
  for (;;) {
    await condition(() => asked.ending !== undefined || isCalledOff(context), leftMs);
    await allHeard();
    const truth = truthOf(context, asked);
    if (truth !== undefined) return { outcome: truth };
    const { retired, giveUp } = context;
    if (retired !== undefined) return { outcome: givenUp(input, 'operator', retirement(retired)) };
    if (giveUp.isRequested) return { outcome: givenUp(input, 'operator', 'its settle was cancelled') };
    const request = operator.find(key);
    if (request === undefined) {
      if (asked.ending !== undefined || Date.now() >= deadlineMs) return undefined;
      continue;
    }
    await condition(() => asked.ending !== undefined, OPERATOR_WAIT_MS);
    const verdict = judge(request, asked.ending, target);
    if (verdict.kind === 'ended') return verdict.needsSettle ? withoutWord(verdict) : verdict;
    operator.refuse(key, verdict.code, verdict.message);
  }
}

/** This was the settle that went on asking, so it must not be said that another one does. */
function withoutWord(verdict: SettleEnd): SettleEnd {
  const message = `the call is ${verdict.outcome.status}; its agent did not say, and is not asked again`;
  return { ...verdict, message };
}

/** A command that a kill is wanted for and that still runs is not at its end. */
function truthOf({ input }: SettleContext, { ending }: Pending<CancelCallResult>): CallOutcome | undefined {
  const isRunning = ending !== undefined && 'value' in ending && ending.value.outcome.status === 'running';
  if (isRunning && input.mode === 'kill') return undefined;
  const end = findEnd(ending, 'attempt_ended', input.cause);
  return end !== undefined && input.mode === 'kill' ? asInterrupted(end) : end;
}

function atTheEnd({ input }: SettleContext, last: CancelCallResult | undefined): CallOutcome {
  if (last?.outcome.status === 'running') {
    return stillRunning(last.outcome, 'attempt_ended', 'it could not be stopped for as long as was tried');
  }
  return givenUp(input, 'settle_gave_up', `${input.cause}; its agent did not say for as long as was tried`);
}

function retirement({ who, why }: Partial<RetireAgent>): string {
  return `its agent was retired by ${who ?? 'a person'}: ${why ?? 'no reason given'}`;
}

function isCalledOff({ retired, giveUp, operator, input }: SettleContext): boolean {
  return retired !== undefined || giveUp.isRequested || operator.has(input.key);
}

async function record(context: SettleContext, end: SettleEnd): Promise<SettleResult> {
  const { chatId, turn, key } = context.input;
  const { outcome, message = '', isOperatorsWord = false } = end;
  let { status, evidence }: Pick<ResolveCallAnswer, 'status' | 'evidence'> = outcome;
  try {
    ({ status, evidence } = await storeActivities.recordTruth({ chatId, turn, key, outcome }));
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    // The row is gone with a rollback of the store: the truth stays here, for people.
    log.warn('the truth about a call could not be stored', { key, reason: describeError(error) });
  }
  setCurrentDetails(`${outcome.status}: ${outcome.evidence.detail}`);
  const first = message === '' ? undefined : { isOperatorsWord, status, evidence, message };
  context.operator.answerAll(key, { status, evidence }, first);
  await condition(allHandlersFinished);
  return { status: outcome.status, evidence: outcome.evidence };
}

async function continueAsNewWhenDue(context: SettleContext): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested || isCalledOff(context)) return;
  await condition(allHandlersFinished);
  await makeContinueAsNewFunc<typeof settle>()(context.input);
}

/** What a person reads who opens it: which call, what is asked, and what was said last. */
function show({ input, deadlineMs }: SettleContext, last: CancelCallResult | undefined): void {
  const { key, mode, target, cause, summary } = input;
  const said = last === undefined ? 'nothing yet; its tries are in Pending Activities' : last.outcome.evidence.detail;
  setCurrentDetails(
    [
      '| what | |',
      '|---|---|',
      ...[
        ['call', `${key} ${summary}`],
        ['asked', `${mode} at agent ${target.agentId}`],
        ['why', cause],
        ['its agent said', said],
        ['gives up', new Date(deadlineMs).toISOString()],
      ].map(([name, text]) => `| ${name} | ${(text ?? '').replace(/[|\p{Cc}]+/gu, ' ')} |`),
    ].join('\n'),
  );
}
