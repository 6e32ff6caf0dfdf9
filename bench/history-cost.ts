/** What one more call of a step adds to a turn's history. */
import { readSize } from './histories.ts';
import type { HistorySize } from './histories.ts';
import { beginTurn, endOfTurn, executeCall, newChat } from './run-turn.ts';
import type { Stage } from './stage.ts';

export interface HistoryCost {
  /** One more call of a step, with a workflow task of its own: the calls end one after the other. */
  readonly perCall: HistorySize;
  /** The same with calls that end together and so share workflow tasks. */
  readonly perCallTogether: HistorySize;
  /** A whole step of one call, its model call counted. */
  readonly perStep: HistorySize;
}

/** As many as run side by side: more would wait, and be told their target late. */
const CALLS = 8;
/** Far more than a workflow task takes, so that no two ends fall into one. */
const APART_SECONDS = 0.25;

export async function measureHistory(stage: Stage): Promise<HistoryCost> {
  const spread = (count: number) => step(count, (place) => `sleep ${place * APART_SECONDS}`);
  const together = (count: number) => step(count, () => 'true');
  const one = await sizeOf(stage, 'one-call', [together(1)]);
  const each = await sizeOf(stage, 'calls-apart', [spread(CALLS)]);
  const all = await sizeOf(stage, 'calls-together', [together(CALLS)]);
  const steps = await sizeOf(
    stage,
    'steps',
    Array.from({ length: CALLS }, (_, index) => step(1, () => 'true', index)),
  );
  return {
    perCall: share(each, one),
    perCallTogether: share(all, one),
    perStep: share(steps, one),
  };
}

function step(count: number, commandAt: (place: number) => string, index = 0): object {
  return {
    calls: Array.from({ length: count }, (_, place) => executeCall(`call-${index}-${place}`, commandAt(place))),
  };
}

async function sizeOf(stage: Stage, name: string, steps: readonly object[]): Promise<HistorySize> {
  const script = stage.writeScript(`${name}.json`, { steps: [...steps, { text: 'Done.' }] });
  const handle = await beginTurn(stage, { chatId: await newChat(stage), script });
  const calls = steps.reduce<number>((sum, each) => sum + (each as { calls: object[] }).calls.length, 0);
  await endOfTurn(handle, calls);
  return readSize(handle);
}

/** What each of the others added to the first. */
function share(many: HistorySize, one: HistorySize): HistorySize {
  const others = CALLS - 1;
  return {
    events: (many.events - one.events) / others,
    bytes: (many.bytes - one.bytes) / others,
    workflowTasks: (many.workflowTasks - one.workflowTasks) / others,
  };
}
