/**
 * The processes of commands: stops them, signals them, lists what is alive of them. The caller has recorded what for.
 *
 * Owns: what outlived a kill. Everything else that it knows of a tree it takes from the attempt's row and its files.
 */
import type { AttemptRow, CallRow, KillCause } from '../journal/call-rows.ts';
import { handleOf } from '../journal/call-rows.ts';
import type { StartedRecord } from '../keeper/keeper-files.ts';
import { hasEnteredCgroup, readStarted } from '../keeper/keeper-files.ts';
import { MarkerSearch } from '../process/call-marker.ts';
import { isPopulated } from '../process/cgroup.ts';
import { findTree } from '../process/find-tree.ts';
import type { TreeRoot } from '../process/find-tree.ts';
import { killTree } from '../process/kill-tree.ts';
import type { KillTreeRequest, KillTreeResult, Survivor } from '../process/kill-tree.ts';
import { listProcesses, sessionHasLiving } from '../process/list-processes.ts';
import { TreeSignals } from '../process/tree-signals.ts';
import type { OnLeaderSignal } from '../process/tree-signals.ts';
import type { AgentState } from '../state/open-state.ts';
import type { LiveCommand } from './live-command.ts';

export interface CommandTreesOptions {
  readonly state: AgentState;
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly folderOf: (callId: number, attempt: number) => string;
}

export class CommandTrees {
  readonly #options: CommandTreesOptions;
  /** By call: an ended command may have nothing else that shows whose they are. */
  readonly #survivors = new Map<number, readonly Survivor[]>();

  constructor(options: CommandTreesOptions) {
    this.#options = options;
  }

  markerOf(callId: number): string {
    return `${this.#options.state.agentId}/${handleOf(callId)}`;
  }

  /** TERM, grace, KILL of a running command's tree, or KILL at once; joins a kill that is under way. */
  async kill(live: LiveCommand, cause: KillCause, graceMs: number | undefined): Promise<KillTreeResult> {
    const killAtMs = performance.now() + (graceMs ?? 0);
    // A second TERM would disturb the clean-up that the first one began. Only who is in more of a hurry sends another.
    if (live.killing !== undefined && live.killing.killAtMs <= killAtMs) return live.killing.result;
    const root = this.#liveRoot(live);
    if (root === undefined) return NOTHING_KILLED;
    const { callId } = live.attempt;
    const result = this.#killAll(callId, { ...root, graceMs, onLeaderSignal: recordInto(live, cause) });
    const killing = { killAtMs, result };
    live.killing = killing;
    try {
      return await result;
    } finally {
      if (live.killing === killing) live.killing = undefined;
    }
  }

  /** The same with what an ended command left running. */
  async killRemains(attempt: AttemptRow, graceMs: number): Promise<readonly Survivor[]> {
    const root = this.#rootOf(attempt, readStarted(this.#options.folderOf(attempt.callId, attempt.attempt)));
    if (root === undefined) return [];
    return (await this.#killAll(attempt.callId, { ...root, graceMs })).survivors;
  }

  /** Sends one signal as somebody asked; returns how many processes it reached. */
  async signal(live: LiveCommand, signal: NodeJS.Signals): Promise<number> {
    if (signal === 'SIGKILL') return (await this.kill(live, 'signal', undefined)).signalled;
    const root = this.#liveRoot(live);
    if (root === undefined) return 0;
    const signals = new TreeSignals(root.leader, recordInto(live, 'signal'));
    return signals.send(await findTree(root), signal).length;
  }

  /** What is alive of a running command. */
  async list(live: LiveCommand): Promise<readonly Survivor[]> {
    const root = this.#liveRoot(live);
    return root === undefined ? [] : findTree(root);
  }

  /**
   * Whether anything of an ended command may still hold its output: its cgroup where it entered one, else its session,
   * or a child with its marker.
   */
  async hasRemains(row: CallRow): Promise<boolean> {
    const folder = this.#options.folderOf(row.id, row.attempt);
    const { cgroup } = this.#options.state.calls.requireAttempt(row.id, row.attempt);
    if (cgroup !== null && hasEnteredCgroup(folder)) return isPopulated(cgroup) ?? false;
    const started = readStarted(folder);
    if (started === undefined) return false;
    if (await sessionHasLiving(started.pid)) return true;
    const marked = new MarkerSearch(this.markerOf(row.id));
    for (const candidate of await listProcesses()) if (await marked.hasMarker(candidate)) return true;
    return false;
  }

  async #killAll(callId: number, request: KillTreeRequest): Promise<KillTreeResult> {
    const result = await killTree(request);
    if (result.survivors.length === 0) this.#survivors.delete(callId);
    else this.#survivors.set(callId, result.survivors);
    return result;
  }

  #liveRoot(live: LiveCommand): TreeRoot | undefined {
    return live.started === undefined ? undefined : this.#rootOf(live.attempt, live.started);
  }

  /**
   * Undefined when there is nothing that may be signalled: of another boot, or of another pid namespace (A2), unless it
   * has a cgroup, which means the same to every namespace.
   */
  #rootOf(attempt: AttemptRow, started: StartedRecord | undefined): TreeRoot | undefined {
    if (attempt.bootId !== this.#options.bootId) return undefined;
    const isOurs = started !== undefined && attempt.pidNamespace === this.#options.pidNamespace;
    const seen = this.#survivors.get(attempt.callId);
    if (!isOurs && attempt.cgroup === null && seen === undefined) return undefined;
    return {
      leader: isOurs ? { ...started, session: started.pid } : undefined,
      marker: this.markerOf(attempt.callId),
      cgroup: attempt.cgroup ?? undefined,
      seen,
    };
  }
}

const NOTHING_KILLED: KillTreeResult = { survivors: [], signalled: 0 };

function recordInto(live: LiveCommand, cause: KillCause): OnLeaderSignal {
  return (sent) => void live.sent.push({ ...sent, cause });
}
