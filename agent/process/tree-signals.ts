import type { CgroupRecord } from './cgroup.ts';
import { killCgroup, listCgroupPids } from './cgroup.ts';
import type { Leader } from './find-tree.ts';
import type { ProcessIdentity } from './identity.ts';
import { observeLeader } from './leader-signals.ts';
import type { LeaderSignal } from './leader-signals.ts';
import { signalMembers } from './signal-members.ts';

/** Told in the moment in which a signal has reached the command's own process, before its end can be seen. */
export type OnLeaderSignal = (sent: LeaderSignal) => void;

/** Sends signals to a command's processes; keeps whom they reached, and what they can have done to its leader. */
export class TreeSignals {
  readonly #leader: Leader | undefined;
  readonly #onLeaderSignal: OnLeaderSignal | undefined;
  readonly #reached = new Set<number>();

  constructor(leader: Leader | undefined, onLeaderSignal: OnLeaderSignal | undefined) {
    this.#leader = leader;
    this.#onLeaderSignal = onLeaderSignal;
  }

  /** How many processes were reached by any of the signals. */
  get reachedCount(): number {
    return this.#reached.size;
  }

  /** Gives those that were reached. */
  send(members: readonly ProcessIdentity[], signal: NodeJS.Signals): ProcessIdentity[] {
    return this.#observe(
      signal,
      () => signalMembers(members, this.#leader?.session, signal),
      ({ pid }) => pid,
    );
  }

  /** SIGKILL to everything in the cgroup, in one step. */
  killCgroup(cgroup: CgroupRecord): void {
    let isSent = false;
    const kill = (): number[] => {
      const pids = listCgroupPids(cgroup);
      isSent = killCgroup(cgroup);
      return isSent ? pids : [];
    };
    this.#observe('SIGKILL', kill, (pid) => pid);
    // Its pid means nothing to us, but nothing of the command is left out of this one.
    if (isSent && this.#leader === undefined) this.#onLeaderSignal?.({ signal: 'SIGKILL', disposition: 'deadly' });
  }

  #observe<Member>(signal: NodeJS.Signals, send: () => Member[], pidOf: (member: Member) => number): Member[] {
    let reached: Member[] = [];
    const sendAndLook = (): boolean => {
      reached = send();
      return reached.some((member) => pidOf(member) === this.#leader?.pid);
    };
    const sent = this.#leader === undefined ? void sendAndLook() : observeLeader(this.#leader, signal, sendAndLook);
    for (const member of reached) this.#reached.add(pidOf(member));
    if (sent !== undefined) this.#onLeaderSignal?.(sent);
    return reached;
  }
}
