/** `latchkey events`: what happens in a chat, as a front end is told of it. */
import type { Command } from 'commander';
import { parseChatId } from '../../contract/ids.ts';
import type { ChatId } from '../../contract/ids.ts';
import { followChat } from '../follow-chat.ts';
import { requireNamedStore } from '../named-store.ts';
import { openStore } from '../open-store.ts';
import type { ChatFrame } from '../open-store.ts';
import { readCount } from '../read-count.ts';
import { Leaving } from '../run/leaving.ts';
import { timeOfDay } from '../watch/format-time.ts';
import { plainLine } from '../watch/plain-text.ts';

interface EventsFlags {
  readonly from?: string;
  readonly last?: string;
  readonly once: boolean;
  readonly workspace: string;
  readonly json: boolean;
}

const HELP = `
Without --from: first the chat as it is (frames with "snapshot":true, the status first, then "live" with the cursor),
then each event as it comes. With --from N: what came after event N; when those were dropped, a "reset" and a snapshot.
Each event has its number "seq": come back with the last one that you saw, and nothing is missed or told twice.

Examples:
  latchkey events chat-4f1c2b9a                     watch it, until Ctrl-C
  latchkey events chat-4f1c2b9a --from 42 --json    one JSON object a line
  latchkey events chat-4f1c2b9a --once --json       the chat as it is, and no more
`;

export function addEventsCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('events')
    .description('follow the events of a chat, from a cursor on')
    .argument('<chat>', 'which chat')
    .option('--from <N>', 'only what came after this event (default: a snapshot first)')
    .option('--last <N>', 'of a snapshot: only the newest messages')
    .option('--once', 'end when all that is there has been told', false)
    .option('--workspace <DIR>', 'the folder whose store is read', process.cwd())
    .option('--json', 'JSON lines', false)
    .addHelpText('after', HELP)
    .action(async (chat: string, flags: EventsFlags) => setExitCode(await events(parseChatId(chat), flags)));
}

async function events(chatId: ChatId, flags: EventsFlags): Promise<number> {
  const after = readCount('--from', flags.from);
  const messagesMax = readCount('--last', flags.last);
  using leaving = new Leaving();
  const store = await openStore(requireNamedStore(flags.workspace, process.env).url);
  try {
    const through = flags.once && after !== undefined ? await store.findCursor(chatId) : undefined;
    if (through !== undefined && after === through) return 0;
    const { signal } = leaving;
    const input = {
      chatId,
      signal,
      ...(after !== undefined && { after }),
      ...(messagesMax !== undefined && { messagesMax }),
    };
    const onBreak = (error: unknown): void => void process.stderr.write(`the store broke off: ${String(error)}\n`);
    for await (const frame of followChat((next) => store.followChat(next), { ...input, onBreak })) {
      process.stdout.write(`${flags.json ? toJson(chatId, frame) : describe(frame)}\n`);
      if (flags.once && (frame.type === 'live' || ('seq' in frame && frame.seq >= (through ?? Infinity)))) return 0;
    }
    return leaving.exitCode;
  } finally {
    await store.close();
  }
}

function toJson(chatId: ChatId, { type, ...rest }: ChatFrame): string {
  return JSON.stringify({ type, chatId, ...rest });
}

function describe(frame: ChatFrame): string {
  const { type, ...rest } = frame;
  const fields = Object.entries(rest).filter(([name]) => name !== 'seq' && name !== 'at' && name !== 'snapshot');
  const words = fields.map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  const place = 'snapshot' in frame ? 'now' : 'seq' in frame ? String(frame.seq) : '';
  const time = 'at' in frame ? timeOfDay(frame.at) : '        ';
  return plainLine(`${place.padStart(6)}  ${time}  ${type}  ${words.join('  ')}`);
}
