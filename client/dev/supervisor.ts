/**
 * Starts the pieces of a stage in order, starts again what ends, and ends all in order. Owns the lock, `stage.json`
 * and the pieces; the commands that run are the agent's and outlive all of this (A1, C6).
 *
 * 1. One supervisor a stage: the lock is held before anything is read or started.
 * 2. A piece is recorded as soon as it runs, so that whoever comes after a kill -9 can end it by its identity (A2).
 * 3. `ending` is written before the users are looked at for the last time, and a user writes itself down before it
 *    reads the state: one of the two sees the other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { CodedError, findFailureCode } from '../../contract/failures.ts';
import { connectTemporal } from '../connect-temporal.ts';
import type { DevServer } from '../../tools/temporal/dev-server.ts';
import { attendPiece } from './attend-piece.ts';
import type { Attended } from './attend-piece.ts';
import { endRecorded } from './end-recorded.ts';
import { agent, executeWorker, lastPorts, temporalServer, turnWorker } from './pieces.ts';
import type { PieceContext, Ports } from './pieces.ts';
import { ourIdentity } from './process-identity.ts';
import type { PieceToStart, Say } from './running-piece.ts';
import type { StageFolder } from './stage-folder.ts';
import { lockStage } from './stage-lock.ts';
import { readRecord, writeRecord } from './stage-record.ts';
import type { StagePlaces, StageRecord } from './stage-record.ts';
import { digestEnvironment, readStageSettings } from './stage-settings.ts';
import type { StageSettings } from './stage-settings.ts';
import { forgetKept, isUsed } from './stage-users.ts';
import { createOpenCheck } from './open-check.ts';

const LOOK_MS = 200;

export interface SupervisorOptions {
  readonly folder: StageFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly endsWhenUnused: boolean;
  readonly ports: Ports;
  readonly say: Say;
  readonly stopping: AbortSignal;
  readonly onReady?: (places: StagePlaces) => void;
}

export const BUSY = 'another supervisor runs this stage';

/** Resolves when all has ended in order. Rejects with one clear error when the stage can't be started. */
export async function superviseStage(options: SupervisorOptions): Promise<void> {
  const lock = lockStage(options.folder.lock);
  if (lock === undefined) throw new CodedError('configuration', BUSY, 'stage');
  try {
    await new Supervisor(options).run();
  } finally {
    lock.release();
  }
}

class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #settings: StageSettings;
  readonly #attended = new Map<string, Attended>();
  readonly #ending = new AbortController();
  #server: DevServer | undefined;
  #record: StageRecord;

  constructor(options: SupervisorOptions) {
    const { folder, env, endsWhenUnused } = options;
    this.#options = options;
    this.#settings = readStageSettings(folder, env);
    this.#record = {
      v: 1,
      supervisor: ourIdentity(),
      state: 'starting',
      startedAt: new Date().toISOString(),
      endsWhenUnused,
      pieces: [],
      environmentDigest: digestEnvironment(folder, env),
    };
  }

  async run(): Promise<void> {
    const { folder, stopping, say, onReady } = this.#options;
    const end = (): void => this.#ending.abort(stopping.reason);
    if (stopping.aborted) end();
    stopping.addEventListener('abort', end, { once: true });
    const earlier = readRecord(folder);
    await endRecorded(earlier?.pieces ?? [], say);
    forgetKept(folder);
    this.#write({});
    try {
      await this.#startAll(earlier?.places);
      this.#write({ state: 'ready' });
      onReady?.(this.#places());
      await this.#awaitEnd();
    } catch (error) {
      if (!this.#ending.signal.aborted) {
        const message = error instanceof Error ? error.message : String(error);
        await this.#endAll();
        this.#write({ state: 'failed', failure: { code: findFailureCode(error) ?? 'configuration', message } });
        throw error;
      }
    }
    this.#write({ state: 'ending' });
    await this.#endAll();
  }

  async #startAll(earlier: StagePlaces | undefined): Promise<void> {
    const { folder, env, say, ports } = this.#options;
    const { ownsServer, ownsAgent, ownsExecuteWorker, ownsTurnWorker } = this.#settings;
    const context: PieceContext = { folder, env, say };
    const places = (): StagePlaces => this.#places();
    // Asked first: each worker would say the same at greater length.
    if (!ownsServer) await (await connectTemporal(places())).connection.close();
    const starts: Promise<void>[] = [];
    if (ownsAgent) starts.push(this.#start(agent(context)));
    if (ownsServer) {
      const last = await lastPorts(earlier);
      const wanted = { port: ports.port ?? last.port, uiPort: ports.uiPort ?? last.uiPort };
      starts.push(this.#start(temporalServer(context, wanted, (server) => (this.#server = server))));
    }
    await this.#allOrNone(starts);
    const workers: Promise<void>[] = [];
    if (ownsExecuteWorker) workers.push(this.#start(executeWorker(context, places)));
    if (ownsTurnWorker) workers.push(this.#start(turnWorker(context, places)));
    await this.#allOrNone(workers);
  }

  /** All are awaited also when one fails, so that none comes up after the end. */
  async #allOrNone(starts: readonly Promise<void>[]): Promise<void> {
    const ends = await Promise.allSettled(starts);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    this.#ending.signal.throwIfAborted();
  }

  async #start(piece: PieceToStart): Promise<void> {
    const { say } = this.#options;
    const running = await piece.start(this.#ending.signal);
    say(piece.name, running.detail);
    const onChange = (): void => this.#write({});
    this.#attended.set(piece.name, attendPiece(piece, running, { stopping: this.#ending.signal, say, onChange }));
    onChange();
  }

  async #awaitEnd(): Promise<void> {
    const { folder, endsWhenUnused, say } = this.#options;
    const { signal } = this.#ending;
    const check = createOpenCheck(() => this.#places());
    while (!signal.aborted) {
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
      if (!endsWhenUnused || signal.aborted || (await isUsed(folder, check.isOpen))) continue;
      this.#write({ state: 'ending' });
      if (await isUsed(folder, check.isOpen)) this.#write({ state: 'ready' });
      else {
        say('stage', 'nobody uses it any more');
        break;
      }
    }
    await check.close();
  }

  /** Workers first, so that none of them is left asking for the agent or the server. */
  async #endAll(): Promise<void> {
    this.#ending.abort(new Error('the stage ends'));
    await Promise.all([...this.#attended.values()].map(({ done }) => done));
    for (const names of [['turn worker', 'execute worker'], ['agent'], ['temporal server']]) {
      await Promise.all(names.map(async (name) => this.#attended.get(name)?.current()?.stop()));
    }
    this.#attended.clear();
    this.#write({});
    this.#options.say('stage', 'all pieces have ended; what the agent started runs on');
  }

  #places(): StagePlaces {
    const { agentAddress, storeUrl, turnQueue } = this.#settings;
    const { env } = this.#options;
    return {
      temporalAddress: this.#server?.address ?? env['TEMPORAL_ADDRESS'] ?? '',
      temporalNamespace: this.#server?.namespace ?? (env['TEMPORAL_NAMESPACE'] || 'default'),
      ...(this.#server?.uiUrl !== undefined && { temporalUiUrl: this.#server.uiUrl }),
      agentAddress,
      storeUrl,
      turnQueue,
    };
  }

  #write(change: Partial<StageRecord>): void {
    const pieces = [...this.#attended].flatMap(([name, { current }]) => {
      const piece = current();
      return piece === undefined ? [] : [{ name, process: piece.process, isOurs: piece.isOurs }];
    });
    this.#record = { ...this.#record, places: this.#places(), ...change, pieces };
    writeRecord(this.#options.folder, this.#record);
  }
}
