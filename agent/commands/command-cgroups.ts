/**
 * The cgroups of this agent's commands: made before the attempt is committed, removed once nothing lives in them.
 *
 * The journal is the index: an attempt's row keeps its cgroup until that is removed. What a command left running on
 * purpose keeps it for longer than the command lives; such ones are looked at now and then, and at each start.
 */
import type { AttemptRow } from '../journal/call-rows.ts';
import type { CgroupRecord } from '../process/cgroup.ts';
import { removeCgroup } from '../process/cgroup.ts';
import { CgroupBase } from '../process/cgroup-base.ts';
import type { AgentState } from '../state/open-state.ts';

const LOOK_AGAIN_MS = 30_000;

export class CommandCgroups {
  readonly #state: AgentState;
  readonly #bootId: string;
  readonly #base: CgroupBase | undefined;
  readonly #leftovers = new Map<string, AttemptRow>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: { readonly state: AgentState; readonly bootId: string; readonly isWanted: boolean }) {
    this.#state = options.state;
    this.#bootId = options.bootId;
    this.#base = options.isWanted ? CgroupBase.find(options.state.agentId) : undefined;
    this.#timer = setInterval(() => void this.removeLeftovers(), LOOK_AGAIN_MS).unref();
  }

  /** How a command's tree is known: by cgroup nothing escapes it. */
  get tree(): 'cgroup' | 'group' {
    return this.#base === undefined ? 'group' : 'cgroup';
  }

  create(callId: number, attempt: number): CgroupRecord | undefined {
    return this.#base?.create(`${callId}.${attempt}`);
  }

  /**
   * To be called when the attempt is decided, before that is committed. True when the row needs its cgroup no longer:
   * removed, or of an earlier boot, whose cgroups are gone. Otherwise it is looked at again later.
   */
  release(attempt: AttemptRow): boolean {
    const { cgroup } = attempt;
    if (cgroup === null) return false;
    if (attempt.bootId !== this.#bootId || removeCgroup(cgroup)) return true;
    this.#leftovers.set(`${attempt.callId}.${attempt.attempt}`, attempt);
    return false;
  }

  /** Looks again at what a command left running. */
  async removeLeftovers(): Promise<void> {
    const removed = [...this.#leftovers].filter(([, { cgroup }]) => cgroup !== null && removeCgroup(cgroup));
    if (removed.length === 0) return;
    for (const [name] of removed) this.#leftovers.delete(name);
    const { calls, journal } = this.#state;
    await journal
      .commit(() => removed.forEach(([, { callId, attempt }]) => calls.forgetCgroup(callId, attempt)))
      // The agent is closing, or its disk is full: the next start finds a row whose cgroup is gone.
      .catch(() => undefined);
  }

  /** Start-up: removes what is empty; gives the ended attempts that have something left alive. */
  async recover(): Promise<readonly AttemptRow[]> {
    const { calls, journal } = this.#state;
    const recorded = calls.listWithCgroup();
    const known = new Set(recorded.flatMap(({ cgroup }) => (cgroup === null ? [] : [cgroup.path])));
    this.#base?.removeUnrecorded(known);
    const ended = recorded.filter(({ callId, attempt }) => {
      const row = calls.require(callId);
      return row.state !== 'open' || row.attempt !== attempt;
    });
    const released = new Set(ended.filter((attempt) => this.release(attempt)));
    if (released.size > 0) {
      await journal.commit(() => {
        for (const { callId, attempt } of released) calls.forgetCgroup(callId, attempt);
      });
    }
    return ended.filter((attempt) => !released.has(attempt));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#base?.remove();
  }
}
