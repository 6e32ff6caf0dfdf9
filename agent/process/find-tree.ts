/**
 * Which processes belong to a command: its cgroup where it has one, its session (and with it its group), their
 * descendants and, while the command itself runs, everything that carries its marker. A build server or a tmux that inherited the marker outlives the
 * command on purpose, so once the command has ended the marker alone counts no more (design §4).
 */
import { MarkerSearch } from './call-marker.ts';
import type { CgroupRecord } from './cgroup.ts';
import { holdsOurselves, listCgroupPids } from './cgroup.ts';
import { hasSameIdentity, isAlive } from './identity.ts';
import type { ProcessIdentity, RecordedIdentity } from './identity.ts';
import { listProcesses } from './list-processes.ts';
import { isProtected } from './signal-process.ts';

/** The command's first process as its `started` file names it, recorded in this incarnation. */
export interface Leader extends RecordedIdentity {
  readonly session: number;
}

export interface TreeRoot {
  /** Undefined where its pid means nothing to us: recorded in another pid namespace (A2). Then the cgroup leads. */
  readonly leader: Leader | undefined;
  /** Of this boot. */
  readonly cgroup?: CgroupRecord | undefined;
  /** Value of `LATCHKEY_CALL` in the command's environment; must be unique to this call. */
  readonly marker?: string | undefined;
  /** Members that an earlier search has seen: nothing else may show whose they are once their leader is gone. */
  readonly seen?: readonly RecordedIdentity[] | undefined;
}

/** What one search has learnt so far. Orphans lose their parent, so what was seen once is remembered by identity. */
export interface TreeEvidence {
  readonly known: ReadonlyMap<number, RecordedIdentity>;
  readonly marked: ReadonlySet<number>;
  /** Seen in the command's cgroup, after `processes` was listed. */
  readonly confined: ReadonlySet<number>;
  /** The command ran when the search began. */
  readonly wasRunning: boolean;
}

/** The living processes of the command, never one that is ours to protect. */
export function findTree(root: TreeRoot): Promise<ProcessIdentity[]> {
  return new TreeSearch(root).scan();
}

/** Repeated scans for one tree: what an earlier scan found stays found, also when it was orphaned since. */
export class TreeSearch {
  /** The command's cgroup, unless there is none or we are in it ourselves. */
  readonly cgroup: CgroupRecord | undefined;
  readonly #root: TreeRoot;
  readonly #markerSearch: MarkerSearch | undefined;
  readonly #known = new Map<number, RecordedIdentity>();
  #wasRunning: boolean | undefined;

  constructor(root: TreeRoot) {
    this.#root = root;
    for (const member of root.seen ?? []) this.#known.set(member.pid, member);
    this.cgroup = root.cgroup === undefined || holdsOurselves(root.cgroup) ? undefined : root.cgroup;
    this.#markerSearch = root.marker === undefined ? undefined : new MarkerSearch(root.marker);
  }

  async scan(): Promise<ProcessIdentity[]> {
    const { leader } = this.#root;
    const processes = await listProcesses();
    // After the listing, so that a pid used again is no danger: a stranger who has been alive since the listing would
    // be seen here in the cgroup, and whoever came later has another identity than the one that is listed.
    const confined = new Set(this.cgroup === undefined ? [] : listCgroupPids(this.cgroup));
    this.#wasRunning ??=
      leader !== undefined && processes.some((candidate) => hasSameIdentity(candidate, leader) && isAlive(candidate));
    const marked = await this.#findMarked(processes);
    const evidence = { known: this.#known, marked, confined, wasRunning: this.#wasRunning };
    const members = selectTree(processes, leader, evidence).filter((member) => !isProtected(member));
    for (const member of members) this.#known.set(member.pid, member);
    return members;
  }

  async #findMarked(processes: readonly ProcessIdentity[]): Promise<Set<number>> {
    const marked = new Set<number>();
    if (this.#markerSearch === undefined) return marked;
    for (const candidate of processes) {
      if (isAlive(candidate) && (await this.#markerSearch.hasMarker(candidate))) marked.add(candidate.pid);
    }
    return marked;
  }
}

/** Pure part: the living members among `processes`. Nothing when the leader's identity and session can't be confirmed. */
export function selectTree(
  processes: readonly ProcessIdentity[],
  leader: Leader | undefined,
  evidence: TreeEvidence,
): ProcessIdentity[] {
  const isLeader = (candidate: ProcessIdentity): boolean => leader !== undefined && hasSameIdentity(candidate, leader);
  const isKnown = (candidate: ProcessIdentity): boolean => {
    if (evidence.confined.has(candidate.pid)) return true;
    const recorded = evidence.known.get(candidate.pid);
    return recorded !== undefined && hasSameIdentity(recorded, candidate);
  };
  // A session's number isn't given out again while it has a member. So it is still ours when one member is (A2);
  // without one, its members may be strangers who got the number later (B07).
  const isSessionOurs = processes.some(
    (candidate) =>
      candidate.session === leader?.session &&
      (isLeader(candidate) || evidence.marked.has(candidate.pid) || isKnown(candidate)),
  );
  const roots = processes.filter(
    (candidate) =>
      isLeader(candidate) ||
      isKnown(candidate) ||
      (isSessionOurs && candidate.session === leader?.session) ||
      (evidence.wasRunning && evidence.marked.has(candidate.pid)),
  );
  return withDescendants(roots, processes).filter(isAlive);
}

function withDescendants(roots: readonly ProcessIdentity[], processes: readonly ProcessIdentity[]): ProcessIdentity[] {
  const children = Map.groupBy(processes, (candidate) => candidate.parent);
  const members = new Set(roots);
  // A set hands out what is added during the loop, so this walks the whole tree.
  for (const member of members) {
    // Not through ourselves: an agent restarted from inside a command is the parent of every other keeper.
    if (isProtected(member)) continue;
    for (const child of children.get(member.pid) ?? []) {
      // The listing isn't a snapshot: an older "child" belongs to an earlier owner of the parent's pid.
      if (child.startTimeTicks >= member.startTimeTicks) members.add(child);
    }
  }
  return [...members];
}
