/**
 * Which processes belong to a command: its session (and with it its group), their descendants and, while the command
 * itself runs, everything that carries its marker. A build server or a tmux that inherited the marker outlives the
 * command on purpose, so once the command has ended the marker alone counts no more (design §4).
 */
import { MarkerSearch } from './call-marker.ts';
import { hasSameIdentity, isAlive } from './identity.ts';
import type { ProcessIdentity, RecordedIdentity } from './identity.ts';
import { listProcesses } from './list-processes.ts';
import { isProtected } from './signal-process.ts';

/** The command's first process as its `started` file names it, recorded in this incarnation. */
export interface Leader extends RecordedIdentity {
  readonly session: number;
}

export interface TreeRoot {
  readonly leader: Leader;
  /** Value of `LATCHKEY_CALL` in the command's environment; must be unique to this call. */
  readonly marker?: string | undefined;
}

/** What one search has learnt so far. Orphans lose their parent, so what was seen once is remembered by identity. */
export interface TreeEvidence {
  readonly known: ReadonlyMap<number, RecordedIdentity>;
  readonly marked: ReadonlySet<number>;
  /** The command ran when the search began. */
  readonly wasRunning: boolean;
}

/** The living processes of the command, never one that is ours to protect. */
export function findTree(root: TreeRoot): Promise<ProcessIdentity[]> {
  return new TreeSearch(root).scan();
}

/** Repeated scans for one tree: what an earlier scan found stays found, also when it was orphaned since. */
export class TreeSearch {
  readonly #root: TreeRoot;
  readonly #markerSearch: MarkerSearch | undefined;
  readonly #known = new Map<number, RecordedIdentity>();
  #wasRunning: boolean | undefined;

  constructor(root: TreeRoot) {
    this.#root = root;
    this.#markerSearch = root.marker === undefined ? undefined : new MarkerSearch(root.marker);
  }

  async scan(): Promise<ProcessIdentity[]> {
    const { leader } = this.#root;
    const processes = await listProcesses();
    this.#wasRunning ??= processes.some((candidate) => hasSameIdentity(candidate, leader) && isAlive(candidate));
    const evidence = { known: this.#known, marked: await this.#findMarked(processes), wasRunning: this.#wasRunning };
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
  leader: Leader,
  evidence: TreeEvidence,
): ProcessIdentity[] {
  const isKnown = (candidate: ProcessIdentity): boolean => {
    const recorded = evidence.known.get(candidate.pid);
    return recorded !== undefined && hasSameIdentity(recorded, candidate);
  };
  // A session's number isn't given out again while it has a member. So it is still ours when one member is (A2);
  // without one, its members may be strangers who got the number later (B07).
  const isSessionOurs = processes.some(
    (candidate) =>
      candidate.session === leader.session &&
      (hasSameIdentity(candidate, leader) || evidence.marked.has(candidate.pid) || isKnown(candidate)),
  );
  const roots = processes.filter(
    (candidate) =>
      hasSameIdentity(candidate, leader) ||
      isKnown(candidate) ||
      (isSessionOurs && candidate.session === leader.session) ||
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
