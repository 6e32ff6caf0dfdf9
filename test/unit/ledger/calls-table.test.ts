import { expect, test } from 'vitest';
import type { AgentId, ExecutionKey, Handle } from '../../../contract/ids.ts';
import type { CallView } from '../../../contract/turn.ts';
import { callsTable } from '../../../workflows/calls-table.ts';

function view(number: number, more: Partial<CallView> = {}): CallView {
  return {
    key: `2-call${number}` as ExecutionKey,
    step: 1,
    toolName: 'execute',
    summary: '$ true',
    status: 'exited',
    agentId: 'agent-1' as AgentId,
    ...more,
  };
}

test('a call is one row of the table, whatever is in its key and its command', () => {
  const odd = view(1, {
    key: '2-a|b\n`' as ExecutionKey,
    summary: '$ a\r\nb\0\ud800',
    handle: 'p1' as Handle,
    exitCode: 0,
  });
  expect(callsTable([odd]).split('\n').slice(2)).toEqual(["| `2-a\\|b '` | exited | `$ a b �` | p1 | 0 |"]);
  expect(callsTable([odd]).isWellFormed()).toBe(true);
});

test('of many calls the table shows the newest and says how many it leaves out', () => {
  const table = callsTable(Array.from({ length: 300 }, (_, index) => view(index)));
  expect(table).toContain('250 earlier calls are not shown.');
  expect(table).toContain('`2-call299`');
  expect(table).not.toContain('`2-call249`');
});

test('without calls the table says so', () => {
  expect(callsTable([])).toBe('No calls yet.');
});
