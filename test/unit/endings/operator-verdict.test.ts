import { describe, expect, test } from 'vitest';
import type { CancelCallResult } from '../../../contract/activity-interfaces.ts';
import type { Handle } from '../../../contract/ids.ts';
import type { ResolveCallRequest } from '../../../contract/operator.ts';
import type { AgentAnswer } from '../../../workflows/ask-agent.ts';
import { requireResolveCallRequest } from '../../../workflows/operator-requests.ts';
import { judge } from '../../../workflows/operator-verdict.ts';
import { outcomeOf } from '../../fakes/turn-world.ts';
import { TARGET } from '../store/chat-fixture.ts';

function asked(as: ResolveCallRequest['as']): ResolveCallRequest {
  return { key: '2-a', as, who: 'Ann', why: 'the disk is gone', ...(as === 'exit' ? { exitCode: 3 } : {}) };
}

const running: CancelCallResult['outcome'] = {
  status: 'running',
  evidence: { code: 'budget', detail: 'it runs' },
  handle: 'p7' as Handle,
};
const answers: Record<string, AgentAnswer> = {
  silent: undefined,
  away: { error: new Error('connection refused') },
  running: { value: { outcome: running } },
  exited: { value: { outcome: outcomeOf('exited', 'exit') } },
  fenced: { value: { outcome: outcomeOf('no_effect', 'fenced') } },
  lost: { value: { outcome: outcomeOf('unknown', 'lost') } },
};

describe("a person's word beside the agent's", () => {
  test.each<[string, ResolveCallRequest['as'], string]>([
    ['silent', 'exit', "exited by operator, the person's, settle"],
    ['silent', 'unknown', "unknown by operator, the person's, settle"],
    ['silent', 'not_run', 'refused: not_proven'],
    ['away', 'not_run', 'refused: not_proven'],
    ['running', 'exit', 'refused: call_running'],
    ['running', 'not_run', 'refused: call_running'],
    ['running', 'unknown', 'detached by attempt_ended'],
    ['exited', 'exit', 'exited by exit'],
    ['exited', 'not_run', 'exited by exit'],
    ['exited', 'unknown', 'exited by exit'],
    ['fenced', 'not_run', "no_effect by fenced, the person's"],
    ['fenced', 'exit', 'no_effect by fenced'],
    ['lost', 'exit', "exited by operator, the person's"],
    ['lost', 'unknown', 'unknown by lost'],
    ['lost', 'not_run', 'refused: not_proven'],
  ])('%s, asked for "%s": %s', (answer, as, expected) => {
    const verdict = judge(asked(as), answers[answer], TARGET);
    const described =
      verdict.kind === 'refused'
        ? `refused: ${verdict.code}`
        : [
            `${verdict.outcome.status} by ${verdict.outcome.evidence.code}`,
            ...(verdict.isOperatorsWord ? ["the person's"] : []),
            ...(verdict.needsSettle ? ['settle'] : []),
          ].join(', ');
    expect(described).toBe(expected);
  });

  test('who and why stand in the evidence and in what the model reads', () => {
    const verdict = judge(asked('exit'), undefined, TARGET);
    expect(verdict).toMatchObject({ outcome: { exit: { code: 3 } } });
    if (verdict.kind !== 'ended') throw new Error(verdict.message);
    for (const text of [verdict.outcome.text, verdict.outcome.evidence.detail]) {
      expect(text).toContain('Ann');
      expect(text).toContain('the disk is gone');
    }
  });

  test('a text with a lone surrogate is repaired before it leaves', () => {
    const verdict = judge({ ...asked('unknown'), why: 'a \ud800 b' }, undefined, TARGET);
    expect(JSON.stringify(verdict).isWellFormed()).toBe(true);
    expect(verdict).toMatchObject({ outcome: { text: expect.stringContaining('a \ufffd b') as string } });
  });
});

test.each<[unknown, string]>([
  [undefined, 'one object'],
  ['2-a', 'one object'],
  [{ ...asked('exit'), key: '' }, 'key'],
  [{ ...asked('exit'), as: 'done' }, 'as'],
  [{ ...asked('exit'), exitCode: undefined }, 'exitCode'],
  [{ ...asked('exit'), exitCode: 256 }, 'exitCode'],
  [{ ...asked('not_run'), exitCode: 0 }, 'exitCode'],
  [{ ...asked('unknown'), who: ' ' }, 'who'],
  [{ ...asked('unknown'), why: 'x'.repeat(501) }, 'why'],
])('%j is refused by the name of its field', (given, field) => {
  expect(() => requireResolveCallRequest(given)).toThrow(field);
});
