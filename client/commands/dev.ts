/** `latchkey dev`: the pieces that one folder needs, in the foreground or in the background, and their end. */
import type { Command } from 'commander';
import { CodedError } from '../../contract/failures.ts';
import { showStoreUrl } from '../../contract/store-url.ts';
import { stillRunning } from '../dev/end-recorded.ts';
import { ensureStage } from '../dev/ensure-stage.ts';
import { forgetKept, isKept } from '../dev/stage-users.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { findLiveRecord, readRecord } from '../dev/stage-record.ts';
import type { PieceRecord, StagePlaces, StageRecord } from '../dev/stage-record.ts';
import { stopStage } from '../dev/stop-stage.ts';
import { parsePort } from '../parse-port.ts';
import { timeOfDay } from '../watch/format-time.ts';

interface DevFlags {
  readonly workspace?: string;
  readonly detached: boolean;
  readonly whileUsed: boolean;
  readonly port?: number;
  readonly uiPort?: number;
}

const HELP = `
Starts what is not configured by the environment: a Temporal dev server on a file that persists, the agent, its execute
worker and the turn worker. What ends is started again. Ctrl-C ends all in order; the commands that the agent has
started run on, and so do turns, as soon as the pieces are up again.

  TEMPORAL_ADDRESS          use this server, start none
  LATCHKEY_AGENT_ADDRESS    use this agent (and its execute worker, when TEMPORAL_ADDRESS is set too)
  LATCHKEY_STORE            use this store (and its turn worker, when TEMPORAL_ADDRESS is set too)
  XDG_STATE_HOME            where the state is kept: in latchkey/stages and latchkey/agents (default ~/.local/state)

Examples:
  latchkey dev                    everything in the foreground, one line per event
  latchkey dev --detached         in the background, until "latchkey dev stop"
  latchkey dev status             what runs for this folder, and where
  latchkey dev stop               end it
`;

const WORKSPACE = ['--workspace <DIR>', 'the folder that the pieces serve (default: the current one)'] as const;

export function addDevCommand(program: Command, setExitCode: (code: number) => void): void {
  const dev = program
    .command('dev')
    .description('run the Temporal dev server, the agent and the workers of a folder')
    .option(...WORKSPACE)
    .option('--detached', 'in the background', false)
    .option('--while-used', 'end by itself when no run or watcher needs it (as "latchkey run" starts it)', false)
    .option('--port <PORT>', 'of the Temporal dev server (default: the last one, else any free one)', parsePort)
    .option('--ui-port <PORT>', 'of the Temporal UI (default: the last one, else any free one)', parsePort)
    .addHelpText('after', HELP)
    .action(async (flags: DevFlags) => {
      const folder = openStageFolder(flags.workspace ?? process.cwd(), process.env);
      setExitCode(flags.detached ? await runDetached(folder, flags) : await runForeground(folder, flags));
    });
  dev
    .command('stop')
    .description('end the pieces of a folder; commands that the agent started run on')
    .option(...WORKSPACE)
    .action(async (_: object, command: Command) => {
      const folder = folderOf(command);
      const what = await stopStage(folder, printLine);
      forgetKept(folder);
      process.stdout.write(`${what ?? `nothing runs for ${folder.workspace}`}\n`);
    });
  dev
    .command('status')
    .description('what runs for a folder, and where')
    .option(...WORKSPACE)
    .option('--json', 'as JSON', false)
    .action((_: object, command: Command) => {
      setExitCode(showStatus(folderOf(command), command.opts<{ json: boolean }>().json));
    });
}

/** `dev stop --workspace DIR` and `dev --workspace DIR stop` mean the same. */
function folderOf(command: Command): StageFolder {
  const workspace = command.opts<DevFlags>().workspace ?? command.parent?.opts<DevFlags>().workspace;
  return openStageFolder(workspace ?? process.cwd(), process.env);
}

async function runForeground(folder: StageFolder, flags: DevFlags): Promise<number> {
  // Loaded late: it brings the Temporal client.
  const { BUSY, superviseStage } = await import('../dev/supervisor.ts');
  const stopping = new AbortController();
  // The terminal is gone: SIGHUP says so too, and ends all in order.
  process.stdout.on('error', () => undefined);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (!stopping.signal.aborted) printLine('stage', 'ending all pieces in order');
      stopping.abort(new Error(`stopped by ${signal}`));
    });
  }
  try {
    await superviseStage({
      folder,
      env: process.env,
      endsWhenUnused: flags.whileUsed,
      ports: { port: flags.port, uiPort: flags.uiPort },
      say: printLine,
      stopping: stopping.signal,
      onReady: (places) => printReady(folder, places, flags),
    });
    return 0;
  } catch (error) {
    if (!(error instanceof CodedError) || error.message !== BUSY) throw error;
    const pid = findLiveRecord(folder)?.supervisor.pid;
    throw new CodedError(
      'configuration',
      `${BUSY} for ${folder.workspace} already${pid === undefined ? '' : ` (pid ${pid})`}. See "latchkey dev status"; end it by "latchkey dev stop".`,
    );
  }
}

async function runDetached(folder: StageFolder, flags: DevFlags): Promise<number> {
  const words = [
    ...(flags.port === undefined ? [] : ['--port', String(flags.port)]),
    ...(flags.uiPort === undefined ? [] : ['--ui-port', String(flags.uiPort)]),
  ];
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort(new Error('left'));
  process.once('SIGINT', onInterrupt);
  const onProgress = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    await ensureStage({ folder, env: process.env, endsWhenUnused: false, words, onProgress, signal: leave.signal });
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    await stopStage(folder, printLine);
    return 130;
  } finally {
    process.off('SIGINT', onInterrupt);
  }
  return showStatus(folder, false);
}

function showStatus(folder: StageFolder, isJson: boolean): number {
  const live = findLiveRecord(folder);
  const left = live === undefined ? stillRunning(readRecord(folder)?.pieces ?? []) : [];
  if (isJson) {
    const stopped = { state: 'stopped', workspace: folder.workspace, ...(left.length > 0 && { left }) };
    process.stdout.write(`${JSON.stringify(withoutPassword(live) ?? stopped)}\n`);
    return live === undefined ? 1 : 0;
  }
  if (live === undefined) {
    const lines =
      left.length === 0
        ? [`nothing runs for ${folder.workspace}; its state is kept in ${folder.root}`]
        : [
            `no supervisor runs for ${folder.workspace}, but what a killed one has left does:`,
            ...left.map(pieceLine),
            '"latchkey dev stop" ends it; "latchkey dev" or a run starts it anew',
          ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return 1;
  }
  const lines = [
    `${live.state} since ${timeOfDay(live.startedAt)} for ${folder.workspace} (supervisor pid ${live.supervisor.pid}${live.endsWhenUnused && !isKept(folder) ? ', ends when unused' : ''})`,
    ...live.pieces.map(pieceLine),
    ...placeLines(live.places, folder),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function pieceLine({ name, process, isOurs }: PieceRecord): string {
  return `  ${name.padEnd(15)} pid ${process.pid}${isOurs ? '' : ', not started by us'}`;
}

function withoutPassword(record: StageRecord | undefined): StageRecord | undefined {
  if (record?.places === undefined) return record;
  return { ...record, places: { ...record.places, storeUrl: showStoreUrl(record.places.storeUrl) } };
}

function placeLines(places: StagePlaces | undefined, folder: StageFolder): string[] {
  if (places === undefined) return [];
  return [
    `  Temporal        ${places.temporalAddress}, namespace ${places.temporalNamespace}`,
    ...(places.temporalUiUrl === undefined ? [] : [`  Temporal UI     ${places.temporalUiUrl}`]),
    `  agent           ${places.agentAddress}`,
    `  store           ${showStoreUrl(places.storeUrl)}`,
    `  state, log      ${folder.root}`,
  ];
}

function printReady(folder: StageFolder, places: StagePlaces, flags: DevFlags): void {
  if (flags.whileUsed) return printLine('stage', `ready for ${folder.workspace}`);
  const next = '  next            latchkey run "…" in that folder; Ctrl-C here ends all';
  process.stdout.write(`${[`ready for ${folder.workspace}`, ...placeLines(places, folder), next].join('\n')}\n`);
}

function printLine(piece: string, line: string): void {
  process.stdout.write(`${timeOfDay()}  ${piece.padEnd(15)}  ${line}\n`);
}
