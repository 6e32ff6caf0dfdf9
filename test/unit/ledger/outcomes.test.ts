import { expect, test } from 'vitest';
import type { CallOutcome, CommittedCall, EvidenceCode } from '../../../contract/calls.ts';
import type { RunningCall } from '../../../contract/activity-interfaces.ts';
import { FAILURE_CHARACTERS_MAX } from '../../../contract/limits.ts';
import type { AgentId, Handle, Incarnation, JournalId } from '../../../contract/ids.ts';
import type { Target } from '../../../contract/target.ts';
import { applyToLedger, openEntry } from '../../../workflows/ledger.ts';
import {
  asDefect,
  asInterrupted,
  canceledBeforeDispatch,
  inDoubt,
  notDispatched,
  stillRunning,
  withoutRequest,
} from '../../../workflows/outcomes.ts';

const target: Target = {
  agentId: 'agent-1' as AgentId,
  journalId: 'journal-1' as JournalId,
  incarnation: 'incarnation-1' as Incarnation,
  sequence: 7,
};
const call = { agentId: 'agent-1' } as CommittedCall;
const running: RunningCall = {
  status: 'running',
  evidence: { code: 'budget', detail: 'it runs', target },
  handle: 'p1' as Handle,
};

function isLegal(outcome: CallOutcome, isDispatched: boolean): boolean {
  const entry = openEntry(isDispatched ? { status: 'reserved', target } : { status: 'reserved' });
  return applyToLedger(entry, { type: 'resolved', status: outcome.status, evidence: outcome.evidence }).isLegal;
}

function proven(status: CallOutcome['status'], code: EvidenceCode): CallOutcome {
  return { status, evidence: { code, detail: code }, text: code };
}

test.each([
  ['not dispatched', notDispatched(call, 'away'), false],
  ['canceled before the dispatch', canceledBeforeDispatch(), false],
  ['without a request', withoutRequest(), false],
  ['still running', stillRunning(running, 'trust_window', 'no worker'), true],
  ['in doubt after lost attempts', inDoubt('attempt_ended', { target, cause: 'silence' }), true],
  ['in doubt after an interrupt', inDoubt('settle_gave_up', { target, cause: 'silence' }), true],
  ['a fence met by an interrupt', asInterrupted(proven('no_effect', 'fenced')), true],
  ['a defect', asDefect(proven('exited', 'trust_window'), 'no proof'), true],
])('the ledger takes what the workflow says of a call that is %s', (_name, outcome, isDispatched) => {
  expect(isLegal(outcome, isDispatched)).toBe(true);
  expect(outcome.text).not.toBe('');
});

test('an interrupt leaves a real exit, a failed start and doubt as they are', () => {
  for (const outcome of [proven('exited', 'exit'), proven('no_effect', 'spawn_failed'), proven('unknown', 'lost')]) {
    expect(asInterrupted(outcome)).toBe(outcome);
  }
  expect(asInterrupted(proven('no_effect', 'void')).status).toBe('canceled');
});

test('what still runs keeps its handle, its output and the text that came with them', () => {
  const output = { totalBytes: 9, omittedBytes: 0, outputOpen: true };
  expect(stillRunning({ ...running, text: 'so far', output, target }, 'attempt_ended', 'lost')).toMatchObject({
    status: 'detached',
    handle: 'p1',
    text: 'so far',
    output,
    target,
    evidence: { code: 'attempt_ended', target },
  });
});

test("a cause of any text leaves the workflow's words well-formed and short", () => {
  const cause = `\udfff${'x'.repeat(100_000)}`;
  const { text, evidence } = inDoubt('attempt_ended', { target, cause });
  expect(text.isWellFormed() && evidence.detail.isWellFormed()).toBe(true);
  expect(Math.max(text.length, evidence.detail.length)).toBeLessThanOrEqual(FAILURE_CHARACTERS_MAX);
});
