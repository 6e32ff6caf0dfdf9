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
  expect(callsTable([odd]).split('\n').slice(2)).toEqual(["| `2-a`\\|`b '` | exited | p1 | exit 0 | `$ a b �` |"]);
  expect(callsTable([odd]).isWellFormed()).toBe(true);
});

test('a bar is shown as it is: escaped, and outside the code, where the Temporal UI would show the escape too', () => {
  const piped = view(1, { summary: '$ ls | wc -l || echo "a|b"' });
  expect(callsTable([piped])).toContain('| `$ ls` \\| `wc -l` \\|\\| `echo "a`\\|`b"` |');
});

test('the evidence of an end is its exit, or why there is none; of a call at its agent, where to look', () => {
  const ends: Partial<CallView>[] = [
    { exitCode: 3, evidence: { code: 'exit', detail: 'it ended' } },
    { status: 'canceled', exitCode: 143, evidence: { code: 'killed', detail: 'by an interrupt' } },
    { status: 'unknown', evidence: { code: 'trust_window', detail: 'silence' } },
    { status: 'starting' },
    { status: 'reserved' },
  ];
  const shown = ends.map(
    (end) =>
      callsTable([view(1, end)])
        .split('\n')
        .at(-1)
        ?.split(' | ')[3],
  );
  expect(shown).toEqual(['exit 3', 'killed, exit 143', 'trust_window', 'see Pending Activities', '']);
});

test('of a long command the table shows the beginning', () => {
  expect(callsTable([view(1, { summary: `$ ${'x'.repeat(198)}` })])).toMatch(/`\$ x{50,58}…`/);
});

test('of many calls the table shows the newest and says how many it leaves out', () => {
  const table = callsTable(Array.from({ length: 300 }, (_, index) => view(index)));
  expect(table).toContain('| … |  |  |  | 250 earlier calls are not shown |');
  expect(table).toContain('`2-call299`');
  expect(table).not.toContain('`2-call249`');
});

test('without calls the table says so', () => {
  expect(callsTable([])).toBe('No calls yet.');
});
