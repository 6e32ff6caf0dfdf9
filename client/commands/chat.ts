/** `latchkey chat`: a conversation in the current folder. */
import type { Command } from 'commander';
import { checkSession, openSession } from '../chat/open-session.ts';
import { runPiped } from '../chat/piped-chat.ts';
import { TerminalChat } from '../chat/terminal-chat.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import { readCount } from '../read-count.ts';
import { Leaving } from '../run/leaving.ts';
import { reachShown } from '../run/reach-shown.ts';

interface ChatFlags {
  readonly model?: string;
  readonly workspace: string;
  readonly last?: string;
  readonly keep: boolean;
  readonly json: boolean;
}

const MESSAGES_SHOWN = 10;

const HELP = `
What is not configured is started for this folder, as for "latchkey run"; it ends when you have left and no turn runs.

On a terminal: what you type while a turn runs is queued. Ctrl-C interrupts the turn; twice leaves (exit code 130), and
the turn goes on. Ctrl-D leaves. A trailing backslash goes on in the next line. /help lists the commands.

Without a terminal each line of standard input is a message, answered before the next one is read. Exit code: 0 every
turn is completed, 1 one is not, 130 left, 125 ours.

Examples:
  latchkey chat --model anthropic/<model>         a new one
  latchkey chat chat-4f1c2b9a                     go on with it: its last messages first
  printf 'one\\ntwo\\n' | latchkey chat --json      for machines: one JSON object a line
`;

export function addChatCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('chat')
    .description('a conversation in the current folder')
    .argument('[id]', 'go on with this chat (default: a new one)')
    .option('--model <NAME>', "which model answers (default: the chat's, else LATCHKEY_MODEL)")
    .option('--last <N>', `show so many of its messages first (default: ${MESSAGES_SHOWN}; none without a terminal)`)
    .option('--workspace <DIR>', 'the folder to work in', process.cwd())
    .option('--keep', 'leave the pieces up, until "latchkey dev stop"', false)
    .option('--json', 'JSON lines on standard output, messages from standard input', false)
    .addHelpText('after', HELP)
    .action(async (id: string | undefined, flags: ChatFlags) => setExitCode(await chat(id, flags)));
}

async function chat(id: string | undefined, flags: ChatFlags): Promise<number> {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && !flags.json;
  const messagesMax = readCount('--last', flags.last) ?? (isTerminal ? MESSAGES_SHOWN : 0);
  const request = { chat: id, model: flags.model, env: process.env };
  checkSession(request);
  const folder = openStageFolder(flags.workspace, process.env);
  using leaving = new Leaving();
  const stage = await reachShown(folder, flags, leaving);
  if (stage === undefined) return leaving.exitCode;
  const session = await openSession(stage, request).catch(async (error: unknown) => {
    await stage.leave({ awaitsEnd: true });
    throw error;
  });
  if (!isTerminal) return await runPiped({ session, folder, isJson: flags.json, messagesMax, leaving });
  // The conversation takes the signals over: Ctrl-C interrupts there.
  leaving[Symbol.dispose]();
  return await TerminalChat.run({ session, folder, messagesMax });
}
