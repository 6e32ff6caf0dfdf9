/** The turns that are under way when somebody dies: what each asks for, and what its calls must give. */
import type { TurnEnd } from '../../contract/turn.ts';
import type { SeededRandom } from '../crash-matrix/seeded-random.ts';

export interface PlannedCall {
  /** Its tool-call id, and its word in the run log. */
  readonly label: string;
  readonly code: number;
  readonly isBackground: boolean;
  /** A signal: it has no exit and no output of its own. */
  readonly isSignal?: boolean;
}

export interface ScriptStep {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly arguments: object }[];
  readonly holdUntilFile?: string;
}

export interface TurnPlan {
  readonly kind: string;
  readonly steps: readonly ScriptStep[];
  readonly calls: readonly PlannedCall[];
  /** The model writes slowly: before each piece of text it waits so long. */
  readonly delayMs?: number;
  /** What a person does to it, once the command of this label runs, or at some moment. */
  readonly act?: { readonly what: 'interrupt' | 'terminate'; readonly whenRuns?: string };
  readonly ends: readonly TurnEnd[];
  /** The code of the error that it ends with. */
  readonly error?: string;
  /** Evidence that may leave a call unknown: only where something was really lost. */
  readonly doubts?: readonly string[];
}

/** Nothing that is spared lives for longer than a round. */
const FOREVER_SECONDS = 120;
/** Longer than a target stays fresh, so that it is recorded just before the dispatch. */
const SLOW_TEXT = 'I think about this for a while, and then for another while, before I run anything. ';
const SLOW_DELAY_MS = 450;
/** Most of a second a model call, so that some restarts meet one. */
const ROLLING_DELAY_MS = 100;

export interface PlanContext {
  /** A beginning of labels that nobody else has. */
  readonly prefix: string;
  readonly runLog: string;
  readonly root: string;
  readonly random: SeededRandom;
}

/** Writes its label when it begins and when it ends, says both, and exits with the code. */
function command(
  context: PlanContext,
  label: string,
  more: { seconds?: number; code?: number; wait?: string } = {},
): string {
  const { runLog } = context;
  const { seconds = 0, code = 0, wait } = more;
  const sleep = wait === undefined ? (seconds === 0 ? '' : `sleep ${seconds}; `) : `${wait}; `;
  return `echo 'begin ${label}' >> '${runLog}'; echo in-${label}; ${sleep}echo out-${label}; echo 'end ${label}' >> '${runLog}'; exit ${code}`;
}

interface Asked {
  readonly id: string;
  readonly seconds?: number;
  readonly code?: number;
  readonly background?: boolean;
}

class PlanBuilder {
  readonly steps: ScriptStep[] = [];
  readonly calls: PlannedCall[] = [];
  readonly #context: PlanContext;

  constructor(context: PlanContext) {
    this.#context = context;
  }

  label(id: string): string {
    return `${this.#context.prefix}-${id}`;
  }

  step(asked: readonly Asked[], text = 'I run something.'): this {
    this.steps.push({
      text,
      calls: asked.map(({ id, background = false, ...more }) => {
        const label = this.label(id);
        this.calls.push({ label, code: more.code ?? 0, isBackground: background });
        const given = { command: command(this.#context, label, more), ...(background && { background }) };
        return { id: label, name: 'execute', arguments: given };
      }),
    });
    return this;
  }

  done(): this {
    this.steps.push({ text: 'Done.' });
    return this;
  }
}

export const PLANS = {
  /** Short, failing and longer commands side by side, one in the background; then one more. */
  plain(context: PlanContext): TurnPlan {
    const { random } = context;
    const { steps, calls } = new PlanBuilder(context)
      .step([
        { id: 'short' },
        { id: 'fails', code: random.between(1, 99) },
        { id: 'longer', seconds: random.between(5, 30) / 10, code: 7 },
        { id: 'behind', seconds: 1, background: true },
      ])
      .step([{ id: 'last', seconds: random.between(0, 10) / 10 }])
      .done();
    return { kind: 'plain', steps, calls, ends: ['completed'] };
  },

  long(context: PlanContext): TurnPlan {
    const { random } = context;
    const seconds = random.between(40, 80) / 10;
    const { steps, calls } = new PlanBuilder(context).step([{ id: 'long', seconds, code: 5 }, { id: 'side' }]).done();
    return { kind: 'long', steps, calls, ends: ['completed'] };
  },

  /** The model takes its time, so the target is too old to be committed with the calls. */
  slow(context: PlanContext): TurnPlan {
    const { steps, calls } = new PlanBuilder(context)
      .step([{ id: 'late' }, { id: 'later', code: 2 }], SLOW_TEXT)
      .done();
    return { kind: 'slow', steps, calls, ends: ['completed'], delayMs: SLOW_DELAY_MS };
  },

  /** Stopped while a command runs; its sibling has ended by then, or not. */
  interrupted(context: PlanContext): TurnPlan {
    const builder = new PlanBuilder(context);
    const { steps, calls } = builder
      .step([
        { id: 'stopped', seconds: FOREVER_SECONDS },
        { id: 'side', code: 3 },
      ])
      .done();
    const act = { what: 'interrupt', whenRuns: builder.label('stopped') } as const;
    return { kind: 'interrupted', steps, calls, act, ends: ['interrupted'] };
  },

  /** Stopped while the model is asked. */
  held(context: PlanContext): TurnPlan {
    const builder = new PlanBuilder(context).step([{ id: 'first' }]);
    builder.steps.push({ text: 'Never said.', holdUntilFile: `${context.root}/never` });
    const { steps, calls } = builder;
    return {
      kind: 'held',
      steps,
      calls,
      act: { what: 'interrupt', whenRuns: builder.label('first') },
      ends: ['interrupted'],
    };
  },

  /** Stopped at any moment. */
  hurried(context: PlanContext): TurnPlan {
    const { steps, calls } = new PlanBuilder(context)
      .step([{ id: 'one', seconds: 1 }, { id: 'two' }], SLOW_TEXT)
      .step([{ id: 'three', seconds: 1 }])
      .done();
    return {
      kind: 'hurried',
      steps,
      calls,
      delayMs: 60,
      act: { what: 'interrupt' },
      ends: ['interrupted', 'completed'],
    };
  },

  /** The provider refuses the second question. */
  refused(context: PlanContext): TurnPlan {
    const { steps, calls } = new PlanBuilder(context).step([{ id: 'only', code: 1 }]);
    return { kind: 'refused', steps, calls, ends: ['failed'], error: 'model_refused' };
  },

  /** Ended from outside while a command runs; the sweep settles what is left. */
  terminated(context: PlanContext): TurnPlan {
    const builder = new PlanBuilder(context);
    const { steps, calls } = builder.step([{ id: 'left', seconds: 8 }, { id: 'side' }]).done();
    const act = { what: 'terminate', whenRuns: builder.label('left') } as const;
    return { kind: 'terminated', steps, calls, act, ends: ['failed'], error: 'turn_lost' };
  },
} as const;

export type PlanKind = keyof typeof PLANS;

/** Long enough that a worker which is stopped for more than a heartbeat time-out goes on while another writes. */
export function wordyPlan(context: PlanContext): TurnPlan {
  const text = Array.from({ length: 60 }, (_, index) => `piece ${String(index).padStart(2, '0')} ------ `).join('');
  const { steps, calls } = new PlanBuilder(context).step([{ id: 'once' }], text).done();
  return { kind: 'wordy', steps, calls, delayMs: 120, ends: ['completed'] };
}

/** Something short, and something that runs until `go` is there. */
export function gatedPlan(context: PlanContext, go: string, more: Pick<TurnPlan, 'doubts'> = {}): TurnPlan {
  const label = `${context.prefix}-gated`;
  const { steps, calls } = new PlanBuilder(context).step([{ id: 'side', code: 9 }]);
  const wait = `until [ -e '${go}' ]; do sleep 0.1; done`;
  const call = { id: label, name: 'execute', arguments: { command: command(context, label, { code: 6, wait }) } };
  const [step] = steps;
  return {
    kind: 'gated',
    steps: [{ ...step, calls: [...(step?.calls ?? []), call] }, { text: 'Done.' }],
    calls: [...calls, { label, code: 6, isBackground: false }],
    ends: ['completed'],
    ...more,
  };
}

/** What a background process notes for each signal; it is found by the handle that its own turn was given. */
export function backgroundPlan(context: PlanContext): TurnPlan {
  const label = `${context.prefix}-server`;
  const { runLog } = context;
  const loop = `for i in $(seq ${FOREVER_SECONDS * 5}); do sleep 0.2; done`;
  const text = `trap "echo 'signal ${label}' >> '${runLog}'" USR1; echo 'begin ${label}' >> '${runLog}'; ${loop}`;
  const call = { id: label, name: 'execute', arguments: { command: text, background: true } };
  return {
    kind: 'background',
    steps: [{ calls: [call] }, { text: 'Done.' }],
    calls: [{ label, code: 0, isBackground: true }],
    ends: ['completed'],
  };
}

export function signalPlan(context: PlanContext, handle: string): TurnPlan {
  const label = `${context.prefix}-signal`;
  const call = { id: label, name: 'process_signal', arguments: { handle, signal: 'SIGUSR1' } };
  return {
    kind: 'signal',
    steps: [{ calls: [call] }, { text: 'Done.' }],
    calls: [{ label, code: 0, isBackground: false, isSignal: true }],
    ends: ['completed'],
  };
}

/** Commands as long as people's, one after another and side by side. */
export function rollingPlan(context: PlanContext, scale: number): TurnPlan {
  const seconds = (): number => Math.round(context.random.between(10, 60) * scale * 10) / 10;
  const { steps, calls } = new PlanBuilder(context)
    .step(
      [
        { id: 'first', seconds: seconds() },
        { id: 'beside', seconds: seconds(), code: 4 },
      ],
      SLOW_TEXT,
    )
    .step([{ id: 'second', seconds: seconds() }], SLOW_TEXT)
    .done();
  return { kind: 'rolling', steps, calls, delayMs: ROLLING_DELAY_MS, ends: ['completed'] };
}

/** The strict provider reads the whole chat once more. */
export const LAST_PLAN: TurnPlan = { kind: 'last', steps: [{ text: 'Done.' }], calls: [], ends: ['completed'] };
