/**
 * Stops a command and all that it started: TERM, a grace for clean-up, then KILL, of its cgroup in one step where it has
 * one, and of everything else by stop, rescan and KILL. What lives nevertheless is named.
 */
import { performance } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { toSafeText } from '../../contract/well-formed.ts';
import { isPopulated } from './cgroup.ts';
import type { CgroupRecord } from './cgroup.ts';
import { TreeSearch } from './find-tree.ts';
import type { TreeRoot } from './find-tree.ts';
import { isSameProcess } from './identity.ts';
import type { ProcessIdentity, RecordedIdentity } from './identity.ts';
import { signalProcess } from './signal-process.ts';
import { TreeSignals } from './tree-signals.ts';
import type { OnLeaderSignal } from './tree-signals.ts';

export interface KillTreeRequest extends TreeRoot {
  /** Between TERM and KILL; ends early when nothing is left. Undefined: KILL at once, without a TERM. */
  readonly graceMs: number | undefined;
  /** Ends the wait for the grace: throws the signal's reason, sends no KILL. The caller kills again later. */
  readonly signal?: AbortSignal | undefined;
  readonly onLeaderSignal?: OnLeaderSignal | undefined;
}

export interface KillTreeResult {
  /** Members of the tree that are alive nevertheless: another user's, stuck in the kernel, or forked too fast. */
  readonly survivors: readonly Survivor[];
  /** How many processes were sent a signal. Zero: nothing of the tree was there, or its identity had changed. */
  readonly signalled: number;
}

export interface Survivor extends RecordedIdentity {
  readonly name: string;
}

/** Grain of watching for the end. */
const POLL_MS = 20;
/** Scans for what was forked before its parent had stopped. What outruns them (a bomb of setsid calls) is a survivor. */
const STOP_ROUNDS_MAX = 5;
/** Killing a group's parent wakes its stopped orphans (SIGHUP, SIGCONT): what they start in that moment needs another pass. */
const KILL_PASSES_MAX = 3;
/** A killed process needs a moment to die; one that is stuck in the kernel doesn't come back in this time. */
const DEATH_WAIT_MS = 1000;
/** What can't be named, since our pid namespace doesn't see it; never hidden. */
const UNSEEN_SURVIVOR: Survivor = { pid: 0, startTimeTicks: 0, name: 'in another pid namespace' };
/** The kernel's own limit is 15 bytes; kept short here too. */
const NAME_CHARACTERS_MAX = 32;

/** The recorded leader must be of this incarnation (the caller has compared); everything else is checked here (A2). */
export async function killTree(request: KillTreeRequest): Promise<KillTreeResult> {
  request.signal?.throwIfAborted();
  const search = new TreeSearch(request);
  const signals = new TreeSignals(request.leader, request.onLeaderSignal);
  // Before the first signal: it turns descendants into orphans that nothing leads to any more.
  let members = await search.scan();
  const { graceMs } = request;
  if (graceMs !== undefined) {
    // Those that left the session too: KILL without TERM would give them no grace.
    signals.send(members, 'SIGTERM');
    // A stopped process would not see its TERM within the grace.
    for (const member of members) if (member.state === 'T') signalProcess(member, 'SIGCONT');
    if (members.length > 0) members = await waitForEnd(search, members, { ...request, graceMs });
  }

  const { cgroup } = search;
  if (cgroup !== undefined && isPopulated(cgroup) === true) {
    signals.killCgroup(cgroup);
    await waitForEmptiness(cgroup);
    members = await search.scan();
  }
  const tried = new Set<number>();
  for (let pass = 0; pass < KILL_PASSES_MAX && members.some((member) => !tried.has(member.pid)); pass++) {
    const stopped = await stopAll(search, members, (found) => signals.send(found, 'SIGSTOP'));
    for (const member of stopped) tried.add(member.pid);
    await waitForDeaths(signals.send(stopped, 'SIGKILL'));
    members = await search.scan();
  }
  const survivors = members.map(toSurvivor);
  const hasUnseen = members.length === 0 && cgroup !== undefined && isPopulated(cgroup) === true;
  return { survivors: hasUnseen ? [UNSEEN_SURVIVOR] : survivors, signalled: signals.reachedCount };
}

/** What is left when the grace is over; empty as soon as everything has ended. */
async function waitForEnd(
  search: TreeSearch,
  members: readonly ProcessIdentity[],
  { graceMs, signal }: KillTreeRequest & { readonly graceMs: number },
): Promise<ProcessIdentity[]> {
  const deadline = performance.now() + graceMs;
  let current = [...members];
  for (;;) {
    signal?.throwIfAborted();
    // A clean-up may have started others, so only a scan can say that nothing is left.
    if (!current.some(isSameProcess)) current = await search.scan();
    const restMs = deadline - performance.now();
    if (current.length === 0 || restMs <= 0) return current;
    // Rejects when aborted only, and then the loop's first line throws the reason.
    await setTimeout(Math.min(POLL_MS, restMs), undefined, { signal }).catch(() => undefined);
  }
}

/** Stops all members, then looks again until no scan finds another one. Not aborted: it would leave them stopped. */
async function stopAll(
  search: TreeSearch,
  members: readonly ProcessIdentity[],
  stop: (found: readonly ProcessIdentity[]) => void,
): Promise<ProcessIdentity[]> {
  const stopped = new Map<number, ProcessIdentity>();
  let fresh = members;
  for (let round = 0; round < STOP_ROUNDS_MAX && fresh.length > 0; round++) {
    stop(fresh);
    for (const member of fresh) stopped.set(member.pid, member);
    fresh = (await search.scan()).filter((member) => !stopped.has(member.pid));
  }
  return [...stopped.values()];
}

async function waitForDeaths(members: readonly ProcessIdentity[]): Promise<void> {
  const deadline = performance.now() + DEATH_WAIT_MS;
  while (performance.now() < deadline && members.some(isSameProcess)) await setTimeout(POLL_MS);
}

async function waitForEmptiness(cgroup: CgroupRecord): Promise<void> {
  const deadline = performance.now() + DEATH_WAIT_MS;
  while (performance.now() < deadline && isPopulated(cgroup) === true) await setTimeout(POLL_MS);
}

/** The name is the process's own choice: control characters and broken text don't leave here. */
function toSurvivor({ pid, startTimeTicks, name }: ProcessIdentity): Survivor {
  return { pid, startTimeTicks, name: toSafeText(name.replace(/\p{Cc}/gu, '?'), NAME_CHARACTERS_MAX) };
}
