/** `latchkey run`: one turn in the current folder, from a message to the end of the work on it. */
import { existsSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { CodedError } from '../../contract/failures.ts';
import { turnWorkflowId } from '../../contract/names.ts';
import { configuredPlaces } from '../dev/reach-stage.ts';
import type { ReachedStage } from '../dev/reach-stage.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { readStageSettings } from '../dev/stage-settings.ts';
import { openStore } from '../open-store.ts';
import { findTurn } from '../run/find-turn.ts';
import { interruptTurn } from '../run/interrupt-turn.ts';
import { rememberTurn } from '../run/latest-turn.ts';
import type { ChatTurn } from '../run/latest-turn.ts';
import { requireModelName } from '../run/model-name.ts';
import { sendMessage } from '../run/send-message.ts';
import { reachShown } from '../run/reach-shown.ts';
import { showTurn } from '../run/show-turn.ts';
import { Leaving } from '../run/leaving.ts';

interface RunFlags {
  readonly model?: string;
  readonly chat?: string;
  readonly workspace: string;
  readonly attach?: string | true;
  readonly interrupt?: string | true;
  readonly keep: boolean;
  readonly json: boolean;
}

const HELP = `
What is not configured is started for this folder: Temporal dev server, agent, workers (see "latchkey dev --help" for
the variables). They end when the turn has ended and nobody else uses them, unless --keep is given or "latchkey dev"
runs. Their state stays: a chat can be gone on with, and a turn that was cut off goes on when they are up again.

Ctrl-C leaves: the turn goes on. Exit code: 0 the turn is completed, 1 it failed or was interrupted, 130 left, 125 ours.
The model's words go to standard output, all else to standard error.

Examples:
  latchkey run --model anthropic/<model> "Why do the tests fail?"
  LATCHKEY_MODEL=scripted:./script.json latchkey run "Mend it"
  git diff | latchkey run -                     the message comes from standard input
  latchkey run --chat run-4f1c2b9a "And now?"   go on with a chat
  latchkey run --attach                         watch the turn that runs (or ran last) here
  latchkey run --interrupt                      stop it: what runs is killed, the turn ends
  latchkey run --json "…"                       one JSON object a line
`;

export function addRunCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('run')
    .description('one turn in the current folder: send a message and watch the work on it')
    .option('--model <NAME>', "which model answers (default: the chat's, else LATCHKEY_MODEL)")
    .option('--chat <ID>', 'go on with this chat (default: a new one)')
    .option('--workspace <DIR>', 'the folder to work in', process.cwd())
    .option('--attach [CHAT]', 'watch a turn: of this chat, or the latest of this folder')
    .option('--interrupt [CHAT]', 'stop a turn, and watch its end')
    .option('--keep', 'leave the pieces up, until "latchkey dev stop": the next run begins at once', false)
    .option('--json', 'JSON lines on standard output', false)
    .argument('[text...]', 'the message; "-" reads standard input')
    .addHelpText('after', HELP)
    .action(async (words: string[], flags: RunFlags) => setExitCode(await run(words, flags)));
}

async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  const folder = openStageFolder(flags.workspace, process.env);
  if (flags.attach === undefined && flags.interrupt === undefined) return runTurn(folder, words, flags);
  if (words.length > 0) {
    throw new CodedError(
      'configuration',
      `--attach and --interrupt take a chat and no message, not "${words.join(' ')}".`,
    );
  }
  return watch(folder, flags);
}

async function runTurn(folder: StageFolder, words: readonly string[], flags: RunFlags): Promise<number> {
  // What is wrong with the words is said before anything is started; a chat may have a model of its own.
  if (flags.chat === undefined || flags.model !== undefined) requireModelName(flags.model, process.env);
  const text = words.length === 1 && words[0] === '-' ? await readAll(process.stdin) : words.join(' ');
  if (text.trim() === '') {
    throw new CodedError(
      'configuration',
      'the message is empty: latchkey run "…", or latchkey run - to read it.',
      'text',
    );
  }
  using leaving = new Leaving();
  const stage = await reachShown(folder, flags, leaving);
  if (stage === undefined) return leaving.exitCode;
  const sent = await sendMessage(stage, {
    text,
    model: flags.model,
    chat: flags.chat,
    env: process.env,
  }).catch(async (error: unknown) => {
    await stage.leave({ awaitsEnd: true });
    throw error;
  });
  rememberTurn(folder, sent);
  if (flags.json) {
    const { chatId, turn, workflowId, model } = sent;
    const { temporalAddress, temporalUiUrl } = stage.places;
    writeJsonLine({ type: 'begin', chatId, turn, workflowId, model, temporalAddress, temporalUiUrl });
  }
  // Awaited here, or the handlers would be gone with this function.
  return await showAndLeave(stage, { ...sent, showsUser: false }, flags, leaving);
}

async function watch(folder: StageFolder, flags: RunFlags): Promise<number> {
  const isInterrupt = flags.interrupt !== undefined;
  const named = flags.interrupt ?? flags.attach;
  const chat = typeof named === 'string' ? named : flags.chat;
  using leaving = new Leaving();
  const storeUrl = configuredPlaces(folder, process.env)?.storeUrl ?? readStageSettings(folder, process.env).storeUrl;
  if (storeUrl === folder.store && !existsSync(storeUrl.slice('sqlite:'.length))) {
    throw new CodedError(
      'configuration',
      `no turn was started in ${folder.workspace} yet: latchkey run "…" starts one.`,
    );
  }
  const store = await openStore(storeUrl);
  try {
    const found = await findTurn(folder, store, chat);
    if (found.hasEnded) {
      if (isInterrupt)
        throw new CodedError('turn_closed', `turn ${found.turn} of chat ${found.chatId} has ended already`);
      // Nothing needs to run for what is only read.
      return await showTurn({ ...found, store, showsUser: true, isJson: flags.json, signal: leaving.signal });
    }
    const stage = await reachShown(folder, flags, leaving);
    if (stage === undefined) return leaving.exitCode;
    const workflowId = turnWorkflowId(found.chatId, found.turn);
    stage.use.follow(workflowId);
    if (isInterrupt && (await interruptTurn(stage.client, found)) === 'kept') {
      process.stderr.write('no turn worker answers: the interrupt is kept, and acts when one runs again\n');
    }
    return await showAndLeave(stage, { ...found, showsUser: true }, flags, leaving);
  } finally {
    await store.close();
  }
}

async function showAndLeave(
  stage: ReachedStage,
  turn: ChatTurn & { readonly showsUser: boolean },
  flags: RunFlags,
  leaving: Leaving,
): Promise<number> {
  const { store, client } = stage;
  try {
    const exitCode = await showTurn({ ...turn, store, client, isJson: flags.json, signal: leaving.signal });
    await stage.leave({ awaitsEnd: true, told: turnWorkflowId(turn.chatId, turn.turn) });
    return exitCode;
  } catch (error) {
    if (!leaving.signal.aborted) {
      await stage.leave({ awaitsEnd: false });
      throw error;
    }
    // The use stays in its file: it counts for as long as the turn runs (stage-users.ts).
    await store.close();
    await client.connection.close();
    const { chatId } = turn;
    if (flags.json) writeJsonLine({ type: 'left', chatId, turn: turn.turn });
    else {
      const words = `left; the turn goes on. Watch it: latchkey run --attach ${chatId} · stop it: latchkey run --interrupt ${chatId}`;
      process.stderr.write(`${words}\n`);
    }
    return leaving.exitCode;
  }
}

function writeJsonLine(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
