/** The few calls of `node:sqlite` that Kysely's SQLite dialect needs, in the shape it expects. */
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** What one statement may wait for another process, which holds the file only for single transactions. */
export const BUSY_TIMEOUT_MS = 5_000;

type Bindable = null | number | bigint | string | Uint8Array;

/** Opens the file for several processes: WAL, so that readers don't wait; FULL, so that what is told is on disk. */
export function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    database.exec('PRAGMA foreign_keys = ON');
    // SQLite's own folds ASCII only, and a search must find "Äpfel" by "äpfel" on either database.
    database.function('lower', { deterministic: true }, lowerCase);
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

export function asKyselyDatabase(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: (sql) => asKyselyStatement(database.prepare(sql)),
  };
}

/**
 * Rows are made here from their values. Those that `node:sqlite` makes have no prototype, so V8 keeps each as a hash
 * table: with 10,000 messages, looking into them cost as much as reading them from the file.
 */
function asKyselyStatement(statement: StatementSync): SqliteStatement {
  const names = statement.columns().map(({ name }) => name);
  const toRow = (values: unknown): Record<string, unknown> => {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) row[names[index]!] = (values as unknown[])[index];
    return row;
  };
  statement.setReturnArrays(true);
  return {
    reader: names.length > 0,
    all: (parameters) => statement.all(...(parameters as Bindable[])).map(toRow),
    run: (parameters) => statement.run(...(parameters as Bindable[])),
    *iterate(parameters) {
      for (const values of statement.iterate(...(parameters as Bindable[]))) yield toRow(values);
    },
  };
}

function lowerCase(value: unknown): string | null {
  return typeof value === 'string' ? value.toLowerCase() : null;
}
