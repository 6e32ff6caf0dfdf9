/** `latchkey calls`: what runs, what is stuck, and why. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { parseAgentId, parseChatId } from '../../contract/ids.ts';
import { callsTable } from '../calls/calls-table.ts';
import { collectCalls } from '../calls/collect-calls.ts';
import type { CollectedCalls } from '../calls/collect-calls.ts';
import { readPollerSilenceMs } from '../calls/poller-silence.ts';
import { reachCalls } from '../calls/reach-calls.ts';
import type { ReachedCalls } from '../calls/reach-calls.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { findLatestTurn } from '../run/latest-turn.ts';
import { Leaving } from '../run/leaving.ts';
import { timeOfDay } from '../watch/format-time.ts';
import { cutToWidth, Screen } from '../watch/screen.ts';

interface CallsFlags {
  readonly stuck: boolean;
  readonly chat?: string;
  readonly agent?: string;
  readonly workspace: string;
  readonly watch: boolean;
  readonly json: boolean;
  readonly all: boolean;
}

const WATCH_MS = 1000;
/** As for any failure of ours. */
const NOT_TOLD = 125;
const ENDED_TURNS = 3;
const ENDED_TURNS_ALL = 100;

const HELP = `
Merges what the workflows, the pending activities and the store say. Shown are the calls of all turns that run and of
the last few that have ended; --stuck shows only those that don't get on, and says why. A look changes nothing.

Exit code: 0; with --stuck 1 when something is stuck, 125 when no Temporal server answers: the store alone can't tell.

Examples:
  latchkey calls                      what runs
  latchkey calls --watch              the same, again each second
  latchkey calls --stuck --json       for a monitor
  latchkey call show 2-toolu_01       one call in full
`;

export function addCallsCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('calls')
    .description('list calls: status, age, agent, handle, attempt, last line, why one is stuck')
    .option('--stuck', 'only those that do not get on', false)
    .option('--chat <ID>', 'only of this chat')
    .option('--agent <ID>', 'only at this agent')
    .option('--workspace <DIR>', 'the folder whose pieces are asked', process.cwd())
    .option('--watch', 'again each second, until Ctrl-C', false)
    .option('--all', `also of the last ${ENDED_TURNS_ALL} turns that have ended`, false)
    .option('--json', 'one JSON object (with --watch one a line)', false)
    .addHelpText('after', HELP)
    .action(async (flags: CallsFlags) => setExitCode(await calls(flags)));
}

async function calls(flags: CallsFlags): Promise<number> {
  const folder = openStageFolder(flags.workspace, process.env);
  using leaving = new Leaving();
  const { signal } = leaving;
  const reached = await reachCalls(folder, process.env);
  const screen = new Screen(process.stdout, process.stderr);
  try {
    for (;;) {
      const seen = await collect(folder, reached, flags);
      if (flags.json) process.stdout.write(`${JSON.stringify(seen)}\n`);
      else show(seen, flags, screen);
      if (!flags.watch) return flags.stuck ? exitCodeOfStuck(seen, reached) : 0;
      await delay(WATCH_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return 0;
    }
  } finally {
    await reached.close();
  }
}

/** Without a server nobody has looked, and a monitor must not take that for "nothing is stuck". */
function exitCodeOfStuck({ calls: stuck }: CollectedCalls, { absence }: ReachedCalls): number {
  if (stuck.length > 0) return 1;
  return absence === undefined ? 0 : NOT_TOLD;
}

async function collect(folder: StageFolder, reached: ReachedCalls, flags: CallsFlags): Promise<CollectedCalls> {
  const { store, client, absence } = reached;
  const chatId = flags.chat === undefined ? undefined : parseChatId(flags.chat);
  const agentId = flags.agent === undefined ? undefined : parseAgentId(flags.agent);
  const filter = { ...(chatId !== undefined && { chatId }), ...(agentId !== undefined && { agentId }) };
  const fallback = chatId === undefined ? findLatestTurn(folder) : { chatId };
  const endedTurnsMax = flags.all ? ENDED_TURNS_ALL : ENDED_TURNS;
  const pollerSilenceMs = readPollerSilenceMs(process.env);
  const seen = await collectCalls({ store, client, filter, endedTurnsMax, pollerSilenceMs, fallback });
  const { calls: found } = seen;
  const openCount = found.filter(({ isOpen }) => isOpen).length;
  const notes =
    absence === undefined ? seen.notes : [`${absence.message} By the store alone, calls that are open: ${openCount}.`];
  return { calls: flags.stuck ? found.filter(({ stuck }) => stuck !== undefined) : found, notes };
}

function show(seen: CollectedCalls, flags: CallsFlags, screen: Screen): void {
  const isAllWell = seen.notes.length === 0;
  const ofNoneStuck = isAllWell ? 'nothing is stuck' : 'no call is known to be stuck';
  const table = callsTable(seen, flags.stuck ? ofNoneStuck : 'no calls');
  if (flags.watch && screen.isLive)
    screen.block([`${timeOfDay()}  (Ctrl-C ends the watching only)`, ...table.split('\n')]);
  else process.stdout.write(`${table.split('\n').map(fitted).join('\n')}\n`);
}

/** On a terminal a row has one line; what is said of a stuck call is not cut. */
function fitted(line: string): string {
  const { isTTY, columns } = process.stdout;
  return isTTY && !line.startsWith('!') ? cutToWidth(line, columns) : line;
}
