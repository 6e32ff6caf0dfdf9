import { describe, expect, test } from 'vitest';
import type { SentSignal } from '../../../agent/commands/killed-by.ts';
import { killedByOf } from '../../../agent/commands/killed-by.ts';
import type { KillCause } from '../../../agent/journal/call-rows.ts';
import { readIdentity } from '../../../agent/process/identity.ts';
import type { Disposition } from '../../../agent/process/leader-signals.ts';
import { observeLeader } from '../../../agent/process/leader-signals.ts';
import { signalProcess } from '../../../agent/process/signal-process.ts';
import { CommandTree, until } from './command-tree.ts';

describe('B04, B06: a command was ended by', () => {
  const sent = (cause: KillCause, signal: NodeJS.Signals, disposition: Disposition): SentSignal => {
    return { cause, signal, disposition };
  };
  const CASES: [
    title: string,
    code: number,
    sent: SentSignal[],
    inherited: KillCause | null,
    by: string | undefined,
  ][] = [
    ['nobody when no signal of ours arrived', 143, [], null, undefined],
    ['us when the code names our signal', 143, [sent('cancel', 'SIGTERM', 'deadly')], null, 'cancel'],
    ['nobody when it was quicker than the deadly signal', 7, [sent('cancel', 'SIGTERM', 'deadly')], null, undefined],
    ['us when it chose the code after it caught the signal', 3, [sent('cancel', 'SIGTERM', 'caught')], null, 'cancel'],
    ['nobody when it ignored the signal and ended', 0, [sent('cancel', 'SIGTERM', 'ignored')], null, undefined],
    ['nobody when another signal ended it', 139, [sent('cancel', 'SIGTERM', 'ignored')], null, undefined],
    [
      'the last signal that explains the code',
      137,
      [
        sent('signal', 'SIGINT', 'caught'),
        sent('kill_after', 'SIGTERM', 'ignored'),
        sent('cancel', 'SIGKILL', 'deadly'),
      ],
      null,
      'cancel',
    ],
    ['an earlier agent that had set out to kill it', 137, [], 'cancel', 'cancel'],
    ['nobody when an earlier agent only meant to', 3, [], 'kill_after', undefined],
    ['whoever had asked an earlier agent for a signal', 130, [], 'signal', 'signal'],
  ];
  test.each(CASES)('%s', (_title, code, signals, inheritedIntent, by) => {
    expect(killedByOf({ code, sent: signals, inheritedIntent })).toBe(by);
  });
});

describe('what a signal can have done', () => {
  const CASES: [disposition: Disposition, trap: string][] = [
    ['deadly', ''],
    ['caught', `trap 'sleep 0.5; exit 3' TERM`],
    ['ignored', `trap '' TERM`],
  ];
  test.each(CASES)('is %s, by the way the command had set itself up', async (disposition, trap) => {
    await using tree = await CommandTree.start(`${trap}\nnote leader; while :; do sleep 0.05; done`);
    await tree.noted('leader');
    const send = (): boolean => signalProcess(tree.leader, 'SIGTERM') === 'sent';
    expect(observeLeader(tree.leader, 'SIGTERM', send)).toEqual({ signal: 'SIGTERM', disposition });
  });

  test('is nothing when the signal was not sent, when the command had ended, or has another identity', async () => {
    await using tree = await CommandTree.start('note leader; exec sleep 300');
    const leader = await tree.noted('leader');
    expect(observeLeader(leader, 'SIGTERM', () => false)).toBeUndefined();
    const other = { ...leader, startTimeTicks: leader.startTimeTicks - 1 };
    expect(observeLeader(other, 'SIGTERM', () => true)).toBeUndefined();
    signalProcess(leader, 'SIGKILL');
    await until('it has ended', () => readIdentity(leader.pid) === undefined);
    expect(observeLeader(leader, 'SIGTERM', () => true)).toBeUndefined();
  });
});
