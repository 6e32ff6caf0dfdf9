/** The danger: tests that would be green without the safeguards. Each is taken out of a copy, and the matrix goes red. */
import { expect, test } from 'vitest';
import type { Mutation } from '../../fixtures/mutant.ts';
import { makeWholeMutant, runFaultMatrix } from '../../fixtures/mutant.ts';

const TIMEOUT_MS = 600_000;

interface Safeguard {
  readonly name: string;
  readonly mutations: readonly Mutation[];
  /** Of the fault matrix, the one that shows it. */
  readonly round: string;
  /** What it says then: red for this reason, and not for another one. */
  readonly violation: RegExp;
}

const SAFEGUARDS: readonly Safeguard[] = [
  {
    name: 'K5: that a stored nonce wins over the one of a later run',
    mutations: [
      {
        file: 'activities/generate-step.ts',
        from: "if (begun.state === 'committed') return begun.result;",
        to: `if (begun.state === 'committed') {
    const renamed = begun.result.calls.map((call) => ({ ...call, nonce: \`\${stepNonce}.\${call.position}\` as never }));
    return { ...begun.result, calls: renamed };
  }`,
      },
    ],
    round: 'resets',
    violation: /ran although its row says no_effect \(input_mismatch\)/,
  },
  {
    name: 'K5: the target in the row before the dispatch',
    mutations: [
      {
        file: 'workflows/dispatch-calls.ts',
        from: 'const { targets } = await storeActivities.recordTargets({ chatId, keys, target });',
        to: 'const targets = chatId === undefined ? [await storeActivities] : keys.map(() => target);',
      },
    ],
    round: 'deploys',
    violation: /ran, and its row has no target/,
  },
  {
    name: 'the `mustExist` rule',
    mutations: [
      {
        file: 'activities/execute.ts',
        from: 'dispatch(attempt, attempt.handle !== undefined)',
        to: 'dispatch(attempt, false)',
      },
    ],
    round: 'forgotten-rows',
    violation: /the run log has \\?"begin \S+-gated\\?" 2 times/,
  },
  {
    name: 'C3: that a resolved call is not dispatched again',
    mutations: [
      {
        file: 'workflows/dispatch-calls.ts',
        from: 'const waiting = records.filter(isOpen);',
        to: 'const waiting = [...records];',
      },
    ],
    round: 'resets',
    violation: /was dispatched after its result/,
  },
  {
    name: 'C6: that a cancelled attempt leaves its command alone',
    mutations: [
      {
        file: 'activities/execute.ts',
        from: '    pulse.stop();\n',
        to: `    pulse.stop();
    const { chatId, key, nonce } = input;
    if (context.cancellationSignal.aborted) await client.cancel({ target, chatId, key, nonce, mode: 'kill' });
`,
      },
    ],
    round: 'deploys',
    violation: /is canceled \(killed\), and nobody had asked for that/,
  },
  {
    name: 'K7: the settle of a call that was resolved without the agent',
    mutations: [
      {
        file: 'workflows/run-call.ts',
        from: 'return resolveCall(context, record, doubt, { settle: { mode, target } });',
        to: 'return resolveCall(context, record, mode === undefined ? doubt : doubt);',
      },
    ],
    round: 'settles',
    violation: /is unknown \(agent_silent/,
  },
  {
    name: "K7: the fence in an interrupt's question",
    mutations: [
      {
        file: 'activities/cancel-call.ts',
        from: 'const answer = await client.cancel({ target, chatId, key, nonce, mode, graceMs, waitMs }, { signal });',
        to: 'const answer: CancelAnswer = { ...(await client.probe({ target, chatId, key, nonce }, { signal })), survivors: [] };',
      },
      {
        file: 'activities/cancel-call.ts',
        from: "return unknown('absent', 'The journal that had taken the call does not know it any more.');",
        to: "return nothingRan('fenced', 'It is not there.');",
      },
    ],
    round: 'late-starts',
    violation: /ran although its row says canceled \(fenced\)/,
  },
  {
    name: "I09: the token of a step's attempt",
    mutations: [
      {
        file: 'store/steps.ts',
        from: "if (row.state === 'committed' || row.attempt_token !== attempt.token) throw overtaken(attempt);",
        to: "if (row.state === 'committed') throw overtaken(attempt);",
      },
    ],
    round: 'overlaps',
    violation: /a watcher saw what the model never wrote/,
  },
];

const isLong = process.env['LATCHKEY_LONG'] !== undefined;

test.skipIf(!isLong)(
  'I14 part: with every safeguard in, those rounds of the fault matrix are green',
  () => {
    const rounds = new Set(SAFEGUARDS.map(({ round }) => round));
    const { violations, brokenOff, log } = runFaultMatrix(makeWholeMutant(), [...rounds]);
    expect([violations, brokenOff], log).toEqual([0, undefined]);
  },
  TIMEOUT_MS,
);

for (const { name, mutations, round, violation } of SAFEGUARDS) {
  test.skipIf(!isLong)(
    `I14 part: without ${name} the fault matrix goes red`,
    () => {
      const { violations, log } = runFaultMatrix(makeWholeMutant(...mutations), [round]);
      expect(violations, log).toBeGreaterThan(0);
      expect(log).toMatch(violation);
    },
    TIMEOUT_MS,
  );
}
