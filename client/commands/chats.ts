/** `latchkey chats`: which chats there are, newest first. */
import type { Command } from 'commander';
import { CHAT_PAGE_CHATS_COUNT_MAX } from '../../contract/limits.ts';
import { CodedError } from '../../contract/failures.ts';
import { requireNamedStore } from '../named-store.ts';
import { openStore } from '../open-store.ts';
import type { ChatPage, ListedChat } from '../open-store.ts';
import { plainLine } from '../watch/plain-text.ts';
import { cutToWidth } from '../watch/screen.ts';

interface ChatsFlags {
  readonly search?: string;
  readonly archived: boolean;
  readonly limit: number;
  readonly after?: string;
  readonly workspace: string;
  readonly json: boolean;
}

const CHATS_COUNT = 20;

const HELP = `
The store is LATCHKEY_STORE, else that of this folder. A text is searched as it stands, in any case, in titles and in
what was said. When there are more, the last line (with --json "next") is the cursor of the next page.

Examples:
  latchkey chats                          the newest ${CHATS_COUNT}
  latchkey chats --search "flaky test"    those in which it was said
  latchkey chats --json --limit 100       one JSON object: {"chats":[…],"next":"…"}
`;

export function addChatsCommand(program: Command): void {
  program
    .command('chats')
    .description('list chats, newest first; search in them')
    .option('--search <TEXT>', 'only those in which this text was said')
    .option('--archived', 'archived ones, too', false)
    .option('--limit <N>', `at most so many, up to ${CHAT_PAGE_CHATS_COUNT_MAX}`, parseLimit, CHATS_COUNT)
    .option('--after <CURSOR>', 'go on after a page')
    .option('--workspace <DIR>', 'the folder whose store is meant', process.cwd())
    .option('--json', 'one JSON object', false)
    .addHelpText('after', HELP)
    .action(chats);
}

async function chats(flags: ChatsFlags): Promise<void> {
  const { url } = requireNamedStore(flags.workspace, process.env);
  const store = await openStore(url);
  try {
    const page = await store.listChats({
      limit: flags.limit,
      includeArchived: flags.archived,
      ...(flags.search === undefined ? {} : { query: flags.search }),
      ...(flags.after === undefined ? {} : { after: flags.after }),
    });
    process.stdout.write(flags.json ? `${JSON.stringify(page)}\n` : `${table(page).join('\n')}\n`);
  } finally {
    await store.close();
  }
}

function table({ chats: listed, next }: ChatPage): string[] {
  if (listed.length === 0) return ['no chats'];
  const width = Math.max(...listed.map(({ chatId }) => chatId.length), 'CHAT'.length);
  const lines = [
    `${'CHAT'.padEnd(width)}  ${'UPDATED'.padEnd(16)}  ${'STATE'.padEnd(8)}  TITLE`,
    ...listed.map(
      (chat) =>
        `${chat.chatId.padEnd(width)}  ${minuteOf(chat.updatedAt)}  ${stateOf(chat).padEnd(8)}  ${plainLine(chat.title ?? '')}`,
    ),
  ].map((line) => fitted(line.trimEnd()));
  return next === undefined ? lines : [...lines, `more: --after ${next}`];
}

function stateOf(chat: ListedChat): string {
  if (chat.archivedAt !== undefined) return 'archived';
  if (chat.activeTurn !== undefined) return 'running';
  return chat.lastError === undefined ? 'idle' : 'failed';
}

/** `2026-05-01 14:03`, local. */
function minuteOf(at: string): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

function fitted(line: string): string {
  const { isTTY, columns } = process.stdout;
  return isTTY ? cutToWidth(line, columns) : line;
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= CHAT_PAGE_CHATS_COUNT_MAX) return limit;
  throw new CodedError('configuration', `--limit ${text} is no whole number from 1 to ${CHAT_PAGE_CHATS_COUNT_MAX}`);
}
