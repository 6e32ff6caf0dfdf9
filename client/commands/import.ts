/** `latchkey import FILE`: an exported chat as a new one. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { parseAgentId, parseChatId } from '../../contract/ids.ts';
import { readLines, withStandardInput } from '../archive-file.ts';
import { findNamedStore } from '../named-store.ts';
import { openStore } from '../open-store.ts';

interface ImportFlags {
  readonly chat?: string;
  readonly agent?: string;
  readonly workspace: string;
  readonly json: boolean;
}

const HELP = `
The chat gets an id of its own, and can be gone on with. Its messages, calls and results stay as they were, but its calls
are history: nothing that is done with the copy reaches the processes of the original. A call whose end was still asked
for becomes unknown. The store is LATCHKEY_STORE, else that of this folder. A bad file is refused by line and field, and
then nothing of it is stored.

Examples:
  latchkey import chat-1.jsonl                      prints the new chat's id
  latchkey import - --chat copy-1 < chat-1.jsonl    under an id of your choice
`;

export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description('read an exported chat as a new chat')
    .argument('<FILE>', 'what latchkey export wrote; - is standard input')
    .option('--chat <NEW_ID>', "the new chat's id; default: a fresh one")
    .option('--agent <ID>', 'the agent that its next commands go to; default: the one that it had')
    .option('--workspace <DIR>', 'the folder whose store is meant', process.cwd())
    .option('--json', 'one JSON object', false)
    .addHelpText('after', HELP)
    .action(async (file: string, flags: ImportFlags) =>
      file === '-' ? withStandardInput((path) => importChat(path, flags)) : importChat(file, flags),
    );
}

async function importChat(file: string, flags: ImportFlags): Promise<void> {
  const chatId = parseChatId(flags.chat ?? `chat-${randomUUID()}`);
  const agentId = flags.agent === undefined ? undefined : parseAgentId(flags.agent);
  const { url } = findNamedStore(flags.workspace, process.env);
  const store = await openStore(url);
  try {
    const lines = () => readLines(file);
    const imported = await store.importChat({ chatId, lines, ...(agentId === undefined ? {} : { agentId }) });
    const { messages, calls } = imported;
    const words = `${chatId}: ${messages} messages, ${calls} calls`;
    process.stdout.write(`${flags.json ? JSON.stringify(imported) : words}\n`);
  } finally {
    await store.close();
  }
}
