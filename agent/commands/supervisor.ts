/**
 * Launches, adopts and settles commands; at start-up, the disk is the index.
 *
 * Owns: the map of live commands. Doesn't own: processes (their keepers do), rows (the journal does).
 *   1. A command is launched only after its attempt is durable (K3), and only here.
 *   2. A row ends once: the terminal commit is conditional on the row still being open.
 *   3. Nobody is told of an end before that commit (`LiveCommand.ended`).
 */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import { CodedError } from '../../contract/failures.ts';
import { crashPoint } from '../crash-points.ts';
import type { AttemptRow, CallRow, KillCause } from '../journal/call-rows.ts';
import { claimForDaemon, readClaim } from '../keeper/keeper-files.ts';
import type { LaunchSpecification } from '../keeper/launch-keeper.ts';
import { launchKeeper, writeAttemptFolder } from '../keeper/launch-keeper.ts';
import type { Settlement } from '../keeper/settle.ts';
import { settleAttempt } from '../keeper/settle.ts';
import { waitForLaunch } from '../keeper/wait-for-launch.ts';
import { waitForRelease } from '../keeper/wait-for-release.ts';
import { bootClockMs } from '../process/boot-clock.ts';
import { isSameProcess } from '../process/identity.ts';
import { bootId, pidNamespace } from '../process/incarnation.ts';
import { countOutOfMemoryKills } from '../process/cgroup.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { AgentState } from '../state/open-state.ts';
import { CommandCgroups } from './command-cgroups.ts';
import { CommandTrees } from './command-trees.ts';
import { killedByOf } from './killed-by.ts';
import { LiveCommand } from './live-command.ts';

/** Forking blocks the event loop for some 2 ms each: a burst is queued, so that other verbs are answered in between. */
const LAUNCHES_SIDE_BY_SIDE = 4;
/** An orphan has no FIFO to wait on. */
const ORPHAN_POLL_MS = 100;
const DISK_RETRY_MS = 1000;
/** A launch takes some 10 ms; so long at most it counts as one of those side by side. */
const LAUNCH_SLOT_MS_MAX = 500;

export interface SupervisorOptions {
  readonly state: AgentState;
  readonly keeperScript: string;
  readonly segmentBytes: number;
  readonly killGraceMs: number;
  /** False: commands get no cgroup of their own, also where that would work. */
  readonly isCgroupWanted: boolean;
  readonly onDefect: (error: unknown, context: Record<string, unknown>) => void;
}

type FinalSettlement = Exclude<Settlement, { kind: 'held' } | { kind: 'orphaned' }>;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #live = new Map<number, LiveCommand>();
  readonly #limit = pLimit(LAUNCHES_SIDE_BY_SIDE);
  readonly #closing = new AbortController();
  readonly bootId = bootId();
  readonly #pidNamespace = pidNamespace();
  readonly #cgroups: CommandCgroups;
  readonly trees: CommandTrees;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#cgroups = new CommandCgroups({
      state: options.state,
      bootId: this.bootId,
      isWanted: options.isCgroupWanted,
    });
    this.trees = new CommandTrees({
      state: options.state,
      bootId: this.bootId,
      pidNamespace: this.#pidNamespace,
      folderOf: (callId, attempt) => this.folderOf(callId, attempt),
    });
  }

  /** How the processes of a command that is started now are known. */
  get tree(): 'cgroup' | 'group' {
    return this.#cgroups.tree;
  }

  find(callId: number): LiveCommand | undefined {
    return this.#live.get(callId);
  }

  get liveCount(): number {
    return this.#live.size;
  }

  folderOf(callId: number, attempt: number): string {
    return join(this.#options.state.folder, 'commands', `${callId}.${attempt}`);
  }

  /**
   * The first line of an attempt's life: made within the commit that reserves it, then handed to `launch`. Its folder is
   * made here, before the row can be seen: so a row without a folder is one whose folder was deleted, and proves nothing.
   */
  newAttempt(callId: number, attempt: number, killAfterMs: number | undefined): AttemptRow {
    mkdirSync(this.folderOf(callId, attempt), { recursive: true, mode: 0o700 });
    return {
      callId,
      attempt,
      bootId: this.bootId,
      pidNamespace: this.#pidNamespace,
      reservedBootMs: bootClockMs(),
      reservedAt: new Date().toISOString(),
      killAfterMs: killAfterMs ?? null,
      cgroup: this.#cgroups.create(callId, attempt) ?? null,
    };
  }

  /** Launches a committed attempt. Returns at once; the live command tells how it goes. */
  launch(attempt: AttemptRow, specification: LaunchSpecification): LiveCommand {
    const live = this.#register(attempt);
    this.#guard(live, async () => {
      const { keeperEnded } = await this.#limit(() => this.#launchKeeper(live, specification));
      await keeperEnded;
      await this.#settle(live);
    });
    return live;
  }

  /** Start-up: every open row is settled from its files; what still runs is adopted. */
  async recover(): Promise<{ readonly adopted: number; readonly settled: number }> {
    const { state } = this.#options;
    const open = state.calls.listOpen();
    const settled: Promise<void>[] = [];
    for (const row of open) {
      crashPoint('in-recovery');
      const live = this.#register(state.calls.requireAttempt(row.id, row.attempt), row.killIntent);
      const settlement = this.#look(live);
      if (settlement.kind === 'held' || settlement.kind === 'orphaned') {
        if (settlement.started !== undefined) live.markRunning(settlement.started);
        this.#guard(live, () => this.#settle(live));
      } else {
        settled.push(this.#commitEnd(live, settlement));
      }
    }
    await Promise.all(settled);
    this.#resumeKills();
    await this.#recoverRemains();
    return { adopted: open.length - settled.length, settled: settled.length };
  }

  /**
   * Stops a running command: the intent is durable, then TERM, grace, KILL of the tree (A2: identity before each
   * signal). Resolves with what survived; the end itself comes by `live.ended`.
   */
  async kill(live: LiveCommand, cause: KillCause, graceMs: number): Promise<readonly Survivor[]> {
    const { state } = this.#options;
    await state.journal.commit(() => state.calls.setKillIntent(live.attempt.callId, cause));
    crashPoint('before-kill');
    const { survivors } = await this.trees.kill(live, cause, graceMs);
    void this.#cgroups.removeLeftovers();
    return survivors;
  }

  /**
   * Stops what an ended command left running, as `kill` does. Whoever cancels a call means all of it, also when its
   * first process was quicker.
   */
  async killRemains(row: CallRow, graceMs: number): Promise<readonly Survivor[]> {
    return this.#killRemainsOf(this.#options.state.calls.requireAttempt(row.id, row.attempt), graceMs);
  }

  async #killRemainsOf(attempt: AttemptRow, graceMs: number): Promise<readonly Survivor[]> {
    const survivors = await this.trees.killRemains(attempt, graceMs);
    void this.#cgroups.removeLeftovers();
    return survivors;
  }

  /**
   * Fences a pending start by taking its claim (K6). `won`: it is fenced, durably, and a keeper that comes later leaves;
   * nothing waits for that keeper (B02). `lost`: the keeper was first, and the command runs.
   */
  async fencePending(live: LiveCommand): Promise<'won' | 'lost'> {
    const { calls, journal } = this.#options.state;
    const { callId, attempt } = live.attempt;
    // The wish first: should we die before the next line, the settle that finds the attempt void makes it fenced.
    await journal.commit(() => calls.setFenceRequested(callId, true));
    crashPoint('before-fence-claim');
    // A claim in a folder made anew would prove nothing: the keeper may hold the deleted one.
    if (!existsSync(live.folder) || claimForDaemon(live.folder) === 'lost') return 'lost';
    crashPoint('after-fence-claim');
    const isReleased = this.#cgroups.release(live.attempt);
    await journal.commit(() => {
      calls.settle({ id: callId, attempt, state: 'fenced', reason: FENCED_WHILE_PENDING });
      if (isReleased) calls.forgetCgroup(callId, attempt);
    });
    this.#forget(live);
    return 'won';
  }

  /** Lets go of everything; commands run on. */
  close(): void {
    this.#closing.abort();
    this.#cgroups.close();
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  #register(attempt: AttemptRow, inheritedIntent: KillCause | null = null): LiveCommand {
    const live = new LiveCommand(attempt, this.folderOf(attempt.callId, attempt.attempt), inheritedIntent);
    this.#live.set(attempt.callId, live);
    if (attempt.killAfterMs !== null) this.#scheduleKill(live, attempt.killAfterMs);
    return live;
  }

  async #launchKeeper(
    live: LiveCommand,
    specification: LaunchSpecification,
  ): Promise<{ readonly keeperEnded: Promise<unknown> }> {
    const { keeperScript, segmentBytes } = this.#options;
    // A fence came while the launch was queued and took the claim: the settle below tells.
    if (readClaim(live.folder).by !== 'nobody') return { keeperEnded: Promise.resolve() };
    try {
      writeAttemptFolder({ folder: live.folder, cgroupPath: live.attempt.cgroup?.path }, specification);
    } catch (error) {
      // No keeper was launched, so nothing can claim: the settle below finds the attempt void.
      this.#options.onDefect(error, { callId: live.attempt.callId, doing: 'writing the folder of an attempt' });
      return { keeperEnded: Promise.resolve() };
    }
    crashPoint('folder-written');
    const keeperEnded = launchKeeper({ script: keeperScript, folder: live.folder, segmentBytes });
    crashPoint('after-launch');
    const launched = waitForLaunch(live.folder, keeperEnded, this.closing).then((started) => {
      if (started === undefined) return;
      crashPoint('after-started');
      live.markRunning(started);
    });
    // A keeper that hangs before its command must not keep a place from others (B02).
    await Promise.race([launched, delay(LAUNCH_SLOT_MS_MAX, undefined, { ref: false })]);
    return { keeperEnded };
  }

  #look(live: LiveCommand): Settlement {
    const isSameBoot = live.attempt.bootId === this.bootId;
    return settleAttempt({
      folder: live.folder,
      isSameBoot,
      isSameNamespace: isSameBoot && live.attempt.pidNamespace === this.#pidNamespace,
    });
  }

  /** Until the attempt is decided and its end is durable: waits on the FIFO or the orphan, then commits. */
  async #settle(live: LiveCommand): Promise<void> {
    while (!this.closing.aborted) {
      try {
        const settlement = this.#look(live);
        if (settlement.kind === 'held') {
          if (settlement.started !== undefined) live.markRunning(settlement.started);
          await waitForRelease(live.folder, () => this.#look(live).kind !== 'held', this.closing);
        } else if (settlement.kind === 'orphaned') {
          live.markRunning(settlement.started);
          const { started } = settlement;
          while (isSameProcess(started) && !this.closing.aborted) await delay(ORPHAN_POLL_MS);
        } else {
          return await this.#commitEnd(live, settlement);
        }
      } catch (error) {
        if (this.closing.aborted) throw error;
        // A full disk, most likely: nobody has been told anything; look again when there may be space.
        this.#options.onDefect(error, { callId: live.attempt.callId, doing: 'settling an attempt' });
        await delay(DISK_RETRY_MS, undefined, { signal: this.closing }).catch(() => undefined);
      }
    }
  }

  async #commitEnd(live: LiveCommand, settlement: FinalSettlement): Promise<void> {
    const { calls, journal } = this.#options.state;
    const { callId, attempt } = live.attempt;
    crashPoint('after-exit');
    const { cgroup } = live.attempt;
    const isOutOfMemory = cgroup !== null && (countOutOfMemoryKills(cgroup) ?? 0) > 0;
    const isReleased = this.#cgroups.release(live.attempt);
    await journal.commitEnding(() => {
      if (isReleased) calls.forgetCgroup(callId, attempt);
      const row = calls.require(callId);
      const base = { id: callId, attempt };
      switch (settlement.kind) {
        case 'exited': {
          const { code, endedBootMs } = settlement.exit;
          const killedBy = killedByOf({ code, sent: live.sent, inheritedIntent: live.inheritedIntent });
          const durationMs = Math.max(0, (endedBootMs ?? bootClockMs()) - live.attempt.reservedBootMs);
          calls.settle({
            ...base,
            state: 'exited',
            exitCode: code,
            durationMs,
            ...(killedBy && { killedBy }),
            ...(isOutOfMemory && code !== 0 && { reason: OUT_OF_MEMORY }),
          });
          break;
        }
        case 'spawn_failed':
          calls.settle({
            ...base,
            state: 'spawn_failed',
            reason: SPAWN_FAILURES[settlement.stage] ?? settlement.stage,
          });
          break;
        case 'lost':
          calls.settle({ ...base, state: 'lost', reason: settlement.reason });
          break;
        case 'void':
          // A fence that was asked for while the start was pending holds for good (K6).
          calls.settle({ ...base, state: row.isFenceRequested ? 'fenced' : 'void', reason: 'it never ran' });
          break;
      }
    });
    crashPoint('before-answer');
    this.#forget(live);
  }

  #forget(live: LiveCommand): void {
    if (this.#live.get(live.attempt.callId) === live) this.#live.delete(live.attempt.callId);
    live.markEnded();
  }

  #scheduleKill(live: LiveCommand, killAfterMs: number): void {
    const check = (): void => {
      if (this.closing.aborted || this.#live.get(live.attempt.callId) !== live) return;
      const leftMs = live.attempt.reservedBootMs + killAfterMs - bootClockMs();
      // In steps, since a timer stands still while the machine is suspended and the boot clock doesn't (C4).
      if (leftMs > 0) setTimeout(check, Math.min(leftMs, 1000)).unref();
      else this.#guard(live, async () => void (await this.kill(live, 'kill_after', this.#options.killGraceMs)));
    };
    check();
  }

  /** Kill intents are rows: a restart goes on where the last daemon stopped. */
  #resumeKills(): void {
    for (const live of this.#live.values()) {
      const intent = this.#options.state.calls.require(live.attempt.callId).killIntent;
      // A signal by name was sent once and is not sent again (I07).
      if (intent === null || intent === 'signal') continue;
      this.#guard(live, async () => {
        await live.launched;
        await this.kill(live, intent, this.#options.killGraceMs);
      });
    }
  }

  /** A kill whose command ended at the TERM, and whose daemon died before the KILL of the rest. */
  async #recoverRemains(): Promise<void> {
    const { calls } = this.#options.state;
    for (const attempt of await this.#cgroups.recover()) {
      const { killIntent } = calls.require(attempt.callId);
      if (killIntent !== 'cancel' && killIntent !== 'kill_after') continue;
      this.#guard({ attempt }, async () => void (await this.#killRemainsOf(attempt, this.#options.killGraceMs)));
    }
  }

  #guard(live: Pick<LiveCommand, 'attempt'>, work: () => Promise<void>): void {
    work().catch((error: unknown) => {
      if (this.closing.aborted && error instanceof CodedError && error.code === 'closing') return;
      this.#options.onDefect(error, { callId: live.attempt.callId });
    });
  }
}

const OUT_OF_MEMORY = 'the system killed a process of this command for lack of memory';
const FENCED_WHILE_PENDING = 'it was fenced before it could run';

const SPAWN_FAILURES: Readonly<Record<string, string>> = {
  workdir: 'the working directory does not exist or cannot be entered',
  started: 'the start could not be recorded on disk',
  exec: 'the system refused to execute the command',
};
