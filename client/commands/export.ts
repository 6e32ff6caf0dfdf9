/** `latchkey export CHAT`: a chat as JSON Lines. */
import type { Command } from 'commander';
import { CodedError } from '../../contract/failures.ts';
import { parseChatId } from '../../contract/ids.ts';
import { printLines, writeLines } from '../archive-file.ts';
import { requireNamedStore } from '../named-store.ts';
import { openStore } from '../open-store.ts';

interface ExportFlags {
  readonly out?: string;
  readonly workspace: string;
  readonly json: boolean;
}

const HELP = `
One JSON object a line: the format's version, the chat, its messages (hidden ones are marked), each followed by its calls
with arguments and results, notes, usage, turns, and the number of each. What waits in the queue is not part of it. The
store is LATCHKEY_STORE, else that of this folder. A chat whose turn runs is refused: interrupt it, or wait.

Examples:
  latchkey export chat-1 --out chat-1.jsonl
  latchkey export chat-1 | LATCHKEY_STORE=postgres://latchkey@db.example/latchkey latchkey import -
`;

export function addExportCommand(program: Command): void {
  program
    .command('export')
    .description('write a chat with all its calls as JSON Lines')
    .argument('<CHAT>', 'its id: latchkey chats')
    .option('--out <FILE>', 'into this file, whole or not at all; default: standard output')
    .option('--workspace <DIR>', 'the folder whose store is meant', process.cwd())
    .option('--json', 'with --out: say what was written as one JSON object', false)
    .addHelpText('after', HELP)
    .action(exportChat);
}

async function exportChat(chat: string, flags: ExportFlags): Promise<void> {
  const { out } = flags;
  if (flags.json && out === undefined) {
    throw new CodedError('configuration', '--json goes with --out: what is on standard output is JSON already');
  }
  const chatId = parseChatId(chat);
  const { url } = requireNamedStore(flags.workspace, process.env);
  const store = await openStore(url);
  try {
    const exported = store.exportChat(chatId);
    if (out === undefined) return await printLines(exported);
    let end = '';
    await writeLines(
      out,
      remembering(exported, (line) => (end = line)),
    );
    const { type: _, ...counts } = JSON.parse(end) as { type: string; messages: number; calls: number };
    const words = `${chatId}: ${counts.messages} messages, ${counts.calls} calls in ${out}`;
    process.stdout.write(`${flags.json ? JSON.stringify({ chatId, file: out, ...counts }) : words}\n`);
  } finally {
    await store.close();
  }
}

async function* remembering(lines: AsyncIterable<string>, see: (line: string) => void) {
  for await (const line of lines) {
    see(line);
    yield line;
  }
}
