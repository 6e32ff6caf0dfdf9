/** A turn that moved to new runs between its steps. */
import { attributesOf, endOf } from '../recorded-history.ts';
import { execute } from '../recording/recording-system.ts';
import { chainOf } from './chain-of.ts';
import type { Kind } from './kind.ts';

/** Less than a step has, so that it moves after each. */
const HISTORY_EVENTS_MAX = 10;

export const continuedAsNew: Kind = {
  name: 'continued-as-new',
  async record(system) {
    const script = [[execute('a', 'echo a')], [execute('b', 'echo b')]];
    const { handle } = await system.startTurn('continued', script, { historyEventsMax: HISTORY_EVENTS_MAX });
    await handle.result();
    return chainOf(system, handle.workflowId);
  },
  facts: (parts) => {
    const runs = ['run-1', 'run-2', 'run-3'].map((part) => parts[part] ?? { events: [] });
    const [first, ...later] = runs;
    return {
      'there are three runs': Object.keys(parts).length === 3,
      'all but the last moved': runs.slice(0, -1).every((run) => endOf(run) === 'WORKFLOW_EXECUTION_CONTINUED_AS_NEW'),
      'the last completed': endOf(runs.at(-1) ?? { events: [] }) === 'WORKFLOW_EXECUTION_COMPLETED',
      'only the first is no continuation': !isContinuation(first) && later.every(isContinuation),
    };
  },
};

function isContinuation(run: Parameters<typeof endOf>[0] | undefined): boolean {
  const [started] = attributesOf(run ?? { events: [] }, 'workflowExecutionStarted');
  return Boolean(started?.['continuedExecutionRunId']);
}
