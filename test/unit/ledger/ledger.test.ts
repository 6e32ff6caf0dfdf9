import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CALL_STATUSES, EVIDENCE_CODES, isResolved, RESOLVED_STATUSES } from '../../../contract/calls.ts';
import type { CallStatus, EvidenceCode, ResolvedStatus } from '../../../contract/calls.ts';
import type { AgentId, Handle, Incarnation, JournalId } from '../../../contract/ids.ts';
import type { Target } from '../../../contract/target.ts';
import { applyToLedger, openEntry } from '../../../workflows/ledger.ts';
import type { LedgerEntry, LedgerEvent, LedgerStep } from '../../../workflows/ledger.ts';

const target: Target = {
  agentId: 'agent-1' as AgentId,
  journalId: 'journal-1' as JournalId,
  incarnation: 'incarnation-1' as Incarnation,
  sequence: 7,
};
const handle = 'p1' as Handle;

function resolved(status: ResolvedStatus, code: EvidenceCode): LedgerEvent {
  return { type: 'resolved', status, evidence: { code, detail: code } };
}

function lateTruth(status: ResolvedStatus, code: EvidenceCode): LedgerEvent {
  return { type: 'late_truth', status, evidence: { code, detail: code } };
}

function walk(entry: LedgerEntry, ...events: LedgerEvent[]): LedgerStep {
  let step: LedgerStep = { isLegal: true, entry };
  for (const event of events) {
    if (!step.isLegal) throw new Error(`refused before "${event.type}": ${step.message}`);
    step = applyToLedger(step.entry, event);
  }
  return step;
}

const reserved = openEntry({ status: 'reserved' });
const dispatched: LedgerEvent = { type: 'dispatched', target };
const seen: LedgerEvent = { type: 'seen', handle };
const cancelRequested: LedgerEvent = { type: 'cancel_requested' };
const letGo: LedgerEvent = { type: 'let_go', evidence: { code: 'agent_silent', detail: 'no answer' } };

describe('what a call may become', () => {
  test.each([
    ['reserved → starting', [dispatched], 'starting'],
    ['starting → running', [dispatched, seen], 'running'],
    ['running → exited', [dispatched, seen, resolved('exited', 'exit')], 'exited'],
    ['starting → detached in the background', [dispatched, resolved('detached', 'background')], 'detached'],
    ['running → detached by the budget', [dispatched, seen, resolved('detached', 'budget')], 'detached'],
    ['running → canceled by a kill', [dispatched, seen, cancelRequested, resolved('canceled', 'killed')], 'canceled'],
    ['starting → canceled by a fence', [dispatched, cancelRequested, resolved('canceled', 'fenced')], 'canceled'],
    ['cancel requested, the exit won', [dispatched, seen, cancelRequested, resolved('exited', 'exit')], 'exited'],
    ['starting → no effect by a failed spawn', [dispatched, resolved('no_effect', 'spawn_failed')], 'no_effect'],
    ['never dispatched', [resolved('no_effect', 'not_dispatched')], 'no_effect'],
    ['interrupted before the dispatch', [resolved('canceled', 'not_dispatched')], 'canceled'],
    ['arguments refused', [resolved('no_effect', 'invalid_arguments')], 'no_effect'],
    ['running → unknown by a lost keeper', [dispatched, seen, resolved('unknown', 'lost')], 'unknown'],
    [
      'unknown, later the exit',
      [dispatched, resolved('unknown', 'trust_window'), lateTruth('exited', 'exit')],
      'exited',
    ],
    [
      'cancel requested, the agent silent: its end is still asked for',
      [dispatched, cancelRequested, letGo],
      'cancel_requested',
    ],
    [
      'cancel requested, let go, later the kill',
      [dispatched, cancelRequested, letGo, lateTruth('canceled', 'killed')],
      'canceled',
    ],
    [
      'cancel requested, let go, given up',
      [dispatched, cancelRequested, letGo, lateTruth('unknown', 'settle_gave_up')],
      'unknown',
    ],
    [
      'exited by the word of a person, later the fence',
      [dispatched, resolved('exited', 'operator'), lateTruth('no_effect', 'fenced')],
      'no_effect',
    ],
    ['detached, later the exit', [dispatched, resolved('detached', 'budget'), lateTruth('exited', 'exit')], 'exited'],
  ] satisfies [string, LedgerEvent[], CallStatus][])('%s is a legal life', (_name, events, status) => {
    const step = walk(reserved, ...events);
    expect(step).toMatchObject({ isLegal: true, entry: { status } });
  });

  test.each([
    ['an exit without a target', [resolved('exited', 'exit')], 'never_dispatched'],
    [
      '"not dispatched" of a call with a target',
      [dispatched, resolved('no_effect', 'not_dispatched')],
      'maybe_dispatched',
    ],
    ['an exit proven by silence', [dispatched, resolved('exited', 'trust_window')], 'evidence_mismatch'],
    ['"nothing ran" proven by silence', [dispatched, resolved('no_effect', 'attempt_ended')], 'evidence_mismatch'],
    ['"nothing ran" after a process was seen', [dispatched, seen, resolved('no_effect', 'void')], 'process_was_seen'],
    ['a second result', [dispatched, resolved('exited', 'exit'), resolved('unknown', 'lost')], 'already_resolved'],
    ['a dispatch after the result', [dispatched, resolved('unknown', 'lost'), dispatched], 'already_resolved'],
    ['a dispatch after a cancel', [dispatched, cancelRequested, dispatched], 'wrong_status'],
    ['letting go without a cancel', [dispatched, letGo], 'wrong_status'],
    ['letting go twice', [dispatched, cancelRequested, letGo, letGo], 'already_resolved'],
    ['a result after letting go', [dispatched, cancelRequested, letGo, resolved('exited', 'exit')], 'already_resolved'],
    ['a dispatch after letting go', [dispatched, cancelRequested, letGo, dispatched], 'already_resolved'],
    [
      "doubt after a person's word",
      [dispatched, resolved('exited', 'operator'), lateTruth('unknown', 'lost')],
      'wrong_status',
    ],
    ['a second dispatch', [dispatched, dispatched], 'wrong_status'],
    ['a process before the dispatch', [seen], 'wrong_status'],
    ['a late truth of an open call', [dispatched, lateTruth('exited', 'exit')], 'not_resolved'],
    [
      'a truth after the real exit',
      [dispatched, resolved('exited', 'exit'), lateTruth('unknown', 'lost')],
      'wrong_status',
    ],
    ['doubt after a proof', [dispatched, resolved('no_effect', 'void'), lateTruth('unknown', 'lost')], 'wrong_status'],
  ] satisfies [string, LedgerEvent[], string][])('%s is refused by name and changes nothing', (_name, events, code) => {
    const last = events.at(-1);
    const before = walk(reserved, ...events.slice(0, -1));
    if (!before.isLegal || last === undefined) throw new Error('the life before the last event is legal');
    const copy = structuredClone(before.entry);
    expect(applyToLedger(before.entry, last)).toMatchObject({ isLegal: false, code });
    expect(before.entry).toEqual(copy);
  });

  test('K5: of a call without a target only ends that need no agent are believed', () => {
    const believed = EVIDENCE_CODES.filter((code) =>
      RESOLVED_STATUSES.some((status) => applyToLedger(reserved, resolved(status, code)).isLegal),
    );
    expect(believed).toEqual(['not_dispatched', 'invalid_arguments', 'operator']);
  });

  test('every evidence code proves at least one end', () => {
    const starting = walk(reserved, dispatched);
    if (!starting.isLegal) throw new Error(starting.message);
    const proves = (code: EvidenceCode) =>
      [reserved, starting.entry].some((entry) =>
        RESOLVED_STATUSES.some((status) => applyToLedger(entry, resolved(status, code)).isLegal),
      );
    expect(EVIDENCE_CODES.filter((code) => !proves(code))).toEqual([]);
  });

  test('what was only observed before is observed anew', () => {
    expect(openEntry({ status: 'running', target }).status).toBe('reserved');
    expect(openEntry({ status: 'cancel_requested', target }).status).toBe('cancel_requested');
  });
});

const evidenceArbitrary = fc.constantFrom(...EVIDENCE_CODES).map((code) => ({ code, detail: code }));
const endArbitrary = fc.record({ status: fc.constantFrom(...RESOLVED_STATUSES), evidence: evidenceArbitrary });
const eventArbitrary: fc.Arbitrary<LedgerEvent> = fc.oneof(
  fc.constant(dispatched),
  fc.constant(seen),
  fc.constant(cancelRequested),
  fc.constant(letGo),
  endArbitrary.map((end): LedgerEvent => ({ type: 'resolved', ...end })),
  endArbitrary.map((end): LedgerEvent => ({ type: 'late_truth', ...end })),
);

describe('over random orders of events', () => {
  const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now());
  console.log(`ledger properties: FAST_CHECK_SEED=${seed}`);

  test('C1, C3: a call gets one result, which no later event changes', () => {
    fc.assert(
      fc.property(fc.array(eventArbitrary, { maxLength: 40 }), fc.boolean(), (events, hasTarget) => {
        let entry = openEntry(hasTarget ? { status: 'reserved', target } : { status: 'reserved' });
        let results = 0;
        for (const event of events) {
          const before = entry;
          const step = applyToLedger(before, event);
          if (!step.isLegal) continue;
          entry = step.entry;
          if (event.type === 'resolved' || event.type === 'let_go') results += 1;
          if (before.result !== undefined) expect(entry.result).toBe(before.result);
          expect(CALL_STATUSES).toContain(entry.status);
          expect(entry.hasResult).toBe(entry.result !== undefined);
          if (isResolved(entry.status)) expect(entry.hasResult).toBe(true);
          else if (entry.hasResult) expect(entry.status).toBe('cancel_requested');
          expect(entry.lateTruths.length).toBeGreaterThanOrEqual(before.lateTruths.length);
        }
        expect(results).toBe(entry.result === undefined ? 0 : 1);
      }),
      { seed, numRuns: 2000 },
    );
  });

  test('K2: doubt proves nothing but "unknown", and a real exit is final', () => {
    fc.assert(
      fc.property(fc.array(eventArbitrary, { maxLength: 40 }), (events) => {
        let entry = openEntry({ status: 'reserved', target });
        for (const event of events) {
          const step = applyToLedger(entry, event);
          const word = (entry.lateTruths.at(-1) ?? entry.result)?.evidence.code;
          if (entry.status === 'exited' && word === 'exit') expect(step.isLegal).toBe(false);
          if (!step.isLegal) continue;
          entry = step.entry;
          const isDoubt = ['absent', 'lost', 'expired', 'settle_gave_up', 'journal_replaced'].some(
            (code) => 'evidence' in event && event.evidence.code === code,
          );
          if (isDoubt) expect(entry.status).toBe('unknown');
        }
      }),
      { seed, numRuns: 2000 },
    );
  });
});
