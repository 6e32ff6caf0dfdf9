/** Brings tables up to date. Kysely's lock lets one process at a time do so, on either database. */
import type { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import { MIGRATIONS } from './migrations.ts';
import type { Schema } from './schema.ts';

export interface MigrationsSeen {
  readonly applied: readonly { readonly name: string; readonly at: string }[];
  readonly pending: readonly string[];
  /** Applied by a newer version than this one. */
  readonly foreign: readonly string[];
}

export const NOT_MADE_YET: MigrationsSeen = { applied: [], pending: Object.keys(MIGRATIONS), foreign: [] };

/** Changes nothing. `schema` is where the tables are, on a database that has several. */
export async function readMigrations(db: Kysely<Schema>, schema: string | undefined): Promise<MigrationsSeen> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  const isThere = tables.some((table) => table.name === TABLE && (schema === undefined || table.schema === schema));
  const rows = isThere
    ? await (db as unknown as Kysely<MigrationTable>).selectFrom(TABLE).selectAll().orderBy('name').execute()
    : [];
  const names = new Set(rows.map(({ name }) => name));
  return {
    applied: rows.map(({ name, timestamp }) => ({ name, at: timestamp })),
    pending: Object.keys(MIGRATIONS).filter((name) => !names.has(name)),
    foreign: [...names].filter((name) => !Object.hasOwn(MIGRATIONS, name)),
  };
}

const TABLE = 'kysely_migration';

interface MigrationTable {
  [TABLE]: { name: string; timestamp: string };
}

/** Throws when the database is newer than this code: its tables may mean something else by now. */
export function refuseNewer({ foreign }: MigrationsSeen): void {
  if (foreign.length === 0) return;
  throw new Error(
    `it was brought to ${foreign.join(', ')} by a newer version of Latchkey, and this one knows up to ` +
      `${Object.keys(MIGRATIONS).at(-1)}: use the newer version`,
  );
}

/** Returns the names of what was applied. */
export async function migrateToLatest(db: Kysely<Schema>, schema: string | undefined): Promise<readonly string[]> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => MIGRATIONS },
    // Without it a table of another program in another schema would be taken for ours.
    ...(schema === undefined ? {} : { migrationTableSchema: schema }),
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw new Error("its tables can't be brought up to date", { cause: error });
  return results.map(({ migrationName }) => migrationName);
}
