/** `latchkey store status|migrate`: which version a store's tables have, and bringing them up to date. */
import type { Command } from 'commander';
import { findNamedStore } from '../named-store.ts';
import { inspectStore, migrateStore } from '../open-store.ts';

interface StoreFlags {
  readonly workspace: string;
  readonly json: boolean;
}

const HELP = `
The store is LATCHKEY_STORE (sqlite:<path> or postgres://user:password@host:port/database), else that of this folder.
Every program that opens a store migrates it, too; "migrate" does so at a time of your choice, such as before the new
version is started. Several may run at once. A store of a newer version is refused.

Exit code of status: 0 when the tables are up to date, else 1.

Examples:
  latchkey store status --json
  LATCHKEY_STORE=postgres://latchkey@db.example/latchkey latchkey store migrate
`;

export function addStoreCommand(program: Command, setExitCode: (code: number) => void): void {
  const store = program
    .command('store')
    .description('show the version of the tables, bring them up to date')
    .addHelpText('after', HELP);
  verb(store, 'status', 'what was applied, and what would be; changes nothing').action(async (flags: StoreFlags) =>
    setExitCode(await status(flags)),
  );
  verb(store, 'migrate', 'apply what is missing').action(migrate);
}

function verb(store: Command, name: string, description: string): Command {
  return store
    .command(name)
    .description(description)
    .option('--workspace <DIR>', 'the folder whose store is meant', process.cwd())
    .option('--json', 'one JSON object', false);
}

async function status(flags: StoreFlags): Promise<number> {
  const { url, shown } = findNamedStore(flags.workspace, process.env);
  const { applied, pending, foreign } = await inspectStore(url);
  const state = foreign.length > 0 ? 'newer' : pending.length > 0 ? 'behind' : 'current';
  const words = {
    newer: `of a newer version (${foreign.join(', ')}): use that version`,
    behind: `missing: ${pending.join(', ')}. Apply by: latchkey store migrate`,
    current: `up to date (${applied.at(-1)?.name})`,
  };
  print(flags, { store: shown, state, applied, pending, foreign }, words[state]);
  return state === 'current' ? 0 : 1;
}

async function migrate(flags: StoreFlags): Promise<void> {
  const { url, shown } = findNamedStore(flags.workspace, process.env);
  const applied = await migrateStore(url);
  const words = applied.length === 0 ? 'up to date already' : `applied: ${applied.join(', ')}`;
  print(flags, { store: shown, applied }, words);
}

type ShownStore = { readonly store: string } & Readonly<Record<string, unknown>>;

function print(flags: StoreFlags, seen: ShownStore, words: string): void {
  process.stdout.write(flags.json ? `${JSON.stringify(seen)}\n` : `store   ${seen.store}\ntables  ${words}\n`);
}
