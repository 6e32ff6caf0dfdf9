/** What is on disk of a key: its journal row and the files of its first attempt, in a few words. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Lane } from './lane.ts';
import type { MatrixKey } from './matrix-key.ts';

export interface JournalRow {
  readonly id: number;
  readonly state: string;
  readonly attempt: number;
  readonly hasKillIntent: boolean;
  readonly isFenceRequested: boolean;
}

/** By key. Read only, so it may be done while the agent lives. */
export function readJournal(lane: Lane): Map<string, JournalRow> {
  const database = new DatabaseSync(join(lane.state, 'journal.db'), { readOnly: true, timeout: 5000 });
  try {
    const rows = database.prepare('SELECT key, id, state, attempt, kill_intent, fence_requested FROM calls').all();
    return new Map(
      rows.map((row) => [
        String(row['key']),
        {
          id: Number(row['id']),
          state: String(row['state']),
          attempt: Number(row['attempt']),
          hasKillIntent: row['kill_intent'] !== null,
          isFenceRequested: row['fence_requested'] === 1,
        },
      ]),
    );
  } finally {
    database.close();
  }
}

export function attemptFolder(lane: Lane, row: JournalRow, attempt = 1): string {
  return join(lane.state, 'commands', `${row.id}.${attempt}`);
}

/** Notes for each key what its death has left; `exit…` is a line that was not finished. */
export function noteEvidence(lane: Lane, keys: readonly MatrixKey[]): void {
  const journal = readJournal(lane);
  for (const key of keys) {
    const row = journal.get(key.key);
    key.onDisk = describe(lane, row);
    key.isFencePromised = row?.isFenceRequested === true;
  }
}

function describe(lane: Lane, row: JournalRow | undefined): string {
  if (row === undefined) return 'no row';
  const folder = attemptFolder(lane, row);
  if (!existsSync(folder)) return `row ${row.state}, no folder`;
  const files = ['launch', 'alive', 'claim', 'started', 'failed', 'exit', 'drained'].filter((name) =>
    existsSync(join(folder, name)),
  );
  return `row ${row.state}, ${files.map((name) => named(folder, name)).join(' ') || 'empty folder'}`;
}

function named(folder: string, name: string): string {
  if (!['claim', 'started', 'failed', 'exit'].includes(name)) return name;
  const text = readFileSync(join(folder, name), 'latin1');
  if (!text.endsWith(' .\n')) return `${name}…`;
  return text === 'daemon .\n' ? 'claim(daemon)' : name;
}
