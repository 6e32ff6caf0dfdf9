/**
 * What is kept how long: output after the exit, then the row as a receipt, then only the chat's cutoff. At each stage
 * a key still never runs again (A11).
 */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Supervisor } from './commands/supervisor.ts';
import type { CallRow } from './journal/call-rows.ts';
import { readTotals } from './output/read-totals.ts';
import type { AgentState } from './state/open-state.ts';

const HOUR_MS = 3_600_000;
export const OUTPUT_RETENTION_MS_DEFAULT = 24 * HOUR_MS;
export const RECEIPT_RETENTION_MS_DEFAULT = 30 * 24 * HOUR_MS;
/** So many rows in one go, so that a long list doesn't hold up the verbs. */
const ROWS_AT_ONCE = 100;

export interface RetentionOptions {
  readonly state: AgentState;
  readonly supervisor: Supervisor;
  readonly segmentBytes: number;
  readonly outputRetentionMs: number;
  readonly receiptRetentionMs: number;
  readonly onDefect: (error: unknown, context: Record<string, unknown>) => void;
}

export class Retention {
  readonly #options: RetentionOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(options: RetentionOptions) {
    this.#options = options;
  }

  /** A sweep now, and again and again: each tenth of the shorter time, at most hourly, at least each second. */
  start(): void {
    const { outputRetentionMs, receiptRetentionMs } = this.#options;
    this.#removeLeftovers();
    const period = Math.min(HOUR_MS, Math.max(1000, Math.min(outputRetentionMs, receiptRetentionMs) / 10));
    const sweep = (): void => {
      this.#running ??= this.sweep()
        .catch((error: unknown) => this.#options.onDefect(error, { doing: 'dropping what is past its time' }))
        .finally(() => (this.#running = undefined));
    };
    this.#timer = setInterval(sweep, period);
    sweep();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async sweep(): Promise<void> {
    const { state, outputRetentionMs, receiptRetentionMs } = this.#options;
    state.ballast.lay();
    for (const row of state.calls.listForExpiry(before(outputRetentionMs), ROWS_AT_ONCE)) await this.#expire(row);
    await state.journal.commit(() => state.calls.dropReceipts(before(outputRetentionMs + receiptRetentionMs)));
  }

  async #expire(row: CallRow): Promise<void> {
    const { state, supervisor, segmentBytes } = this.#options;
    let total = 0;
    if (row.attempt > 0) {
      const totals = await readTotals(supervisor.folderOf(row.id, row.attempt), segmentBytes).catch(ignoreMissing);
      // A background child still writes there: its output is kept as long as it is being made.
      if (totals !== undefined && !totals.isDrained && (await supervisor.trees.hasRemains(row))) return;
      total = totals?.total ?? 0;
    }
    await state.journal.commit(() => state.calls.expireOutput(row.id, total));
    for (let attempt = 1; attempt <= row.attempt; attempt++) {
      rmSync(supervisor.folderOf(row.id, attempt), { recursive: true, force: true });
    }
  }

  /** Folders whose row has let go of them, left by an agent that died in between. */
  #removeLeftovers(): void {
    const folder = join(this.#options.state.folder, 'commands');
    for (const name of readdirSync(folder)) {
      const id = Number(/^(\d+)\.\d+$/.exec(name)?.[1]);
      if (!Number.isInteger(id)) continue;
      const row = this.#options.state.calls.findById(id);
      // Never of an open row: its files are the only truth about a command that may run (K1).
      if (row !== undefined && (row.state === 'open' || row.expiredTotal === null)) continue;
      rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

function before(agoMs: number): string {
  return new Date(Date.now() - agoMs).toISOString();
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
