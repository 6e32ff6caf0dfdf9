/** `latchkey call show|output|cancel|resolve KEY`: one call in full, its bytes, its end. */
import type { Command } from 'commander';
import { isResolved } from '../../contract/calls.ts';
import { CodedError } from '../../contract/failures.ts';
import { reachAgent } from '../calls/agent-of-call.ts';
import type { CallLine } from '../calls/collect-calls.ts';
import { collectCalls } from '../calls/collect-calls.ts';
import { requireCall } from '../calls/find-call.ts';
import { readPollerSilenceMs } from '../calls/poller-silence.ts';
import { reachCalls } from '../calls/reach-calls.ts';
import type { ReachedCalls } from '../calls/reach-calls.ts';
import { writeOutput } from '../calls/write-output.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import type { StoredCall } from '../open-store.ts';
import { Leaving } from '../run/leaving.ts';
import { addCallResolveCommand } from './call-resolve.ts';
import { formatDuration } from '../watch/format-time.ts';
import { plainLine, plainText } from '../watch/plain-text.ts';

interface CallFlags {
  readonly chat?: string;
  readonly workspace: string;
  readonly json: boolean;
  readonly follow?: boolean;
  readonly graceSeconds?: number;
}

interface FoundCall {
  readonly call: StoredCall;
  readonly reached: ReachedCalls;
  readonly flags: CallFlags;
}

const CANCEL_WAIT_MS = 10_000;
const GRACE_SECONDS_MAX = 60;

const HELP = `
Keys are the chat's own: --chat names it; without, the chat of the latest turn in this folder is meant.
"output" and "cancel" ask the agent itself: LATCHKEY_AGENT_ADDRESS, else the agent of this folder.

Examples:
  latchkey call show 2-toolu_01            arguments, times, evidence, result
  latchkey call output 2-toolu_01 -f       every byte that it writes, until it ends
  latchkey call cancel 2-toolu_01          TERM, grace, KILL of its whole tree; the turn goes on with that result
`;

export function addCallCommand(program: Command, setExitCode: (code: number) => void): void {
  const call = program
    .command('call')
    .description('show one call, read its output, cancel it')
    .addHelpText('after', HELP);
  verb(call, 'show', 'everything that is known of it').action(act(setExitCode, show));
  verb(call, 'output', 'its output, byte for byte')
    .option('-f, --follow', 'go on until the command has ended', false)
    .action(act(setExitCode, output));
  verb(call, 'cancel', 'stop its command; one that has not started never will')
    .option('--grace-seconds <N>', 'between TERM and KILL', Number)
    .action(act(setExitCode, cancel));
  addCallResolveCommand(call, setExitCode);
}

function verb(call: Command, name: string, description: string): Command {
  return call
    .command(name)
    .description(description)
    .argument('<KEY>', 'as "latchkey calls" shows it, such as 2-toolu_01')
    .option('--chat <ID>', 'the chat that the key belongs to')
    .option('--workspace <DIR>', 'the folder whose pieces are asked', process.cwd())
    .option('--json', 'one JSON object', false);
}

function act(setExitCode: (code: number) => void, work: (found: FoundCall) => Promise<number>) {
  return async (key: string, flags: CallFlags): Promise<void> => {
    const folder = openStageFolder(flags.workspace, process.env);
    const reached = await reachCalls(folder, process.env);
    try {
      const call = await requireCall(folder, reached.store, { key, chat: flags.chat });
      setExitCode(await work({ call, reached, flags }));
    } finally {
      await reached.close();
    }
  };
}

async function show({ call, reached, flags }: FoundCall): Promise<number> {
  const { store, client } = reached;
  const { chatId, turn } = call;
  const filter = { chatId };
  // Of one that is resolved the store says all.
  const asked = isResolved(call.status) ? undefined : client;
  const endedTurnsMax = 1;
  const pollerSilenceMs = readPollerSilenceMs(process.env);
  const fallback = { chatId, turn };
  const seen = await collectCalls({ store, client: asked, filter, endedTurnsMax, pollerSilenceMs, fallback });
  const line = seen.calls.find(({ key }) => key === call.key);
  if (flags.json) process.stdout.write(`${JSON.stringify({ ...call, observed: line })}\n`);
  else process.stdout.write(`${describe(call, line).join('\n')}\n`);
  return 0;
}

function describe(call: StoredCall, line: CallLine | undefined): string[] {
  const { evidence, outcome, result, target } = call;
  const request = call.request !== undefined && 'command' in call.request ? call.request : undefined;
  const exit = outcome?.exit;
  const rows: [string, string | undefined][] = [
    ['call', `${call.key} of chat ${call.chatId}, turn ${call.turn}`],
    ['tool', call.toolName],
    ['command', request?.command ?? JSON.stringify(call.arguments)],
    ['workdir', request?.workdir],
    ['budget', request === undefined ? undefined : `${request.timeoutSeconds} s, then ${request.onTimeout}`],
    ['status', line?.status ?? call.status],
    ['stuck', line?.stuck?.text],
    ['evidence', evidence === undefined ? undefined : `${evidence.code}: ${evidence.detail}`],
    [
      'exit',
      exit === undefined
        ? undefined
        : `${exit.code}${exit.signal === undefined ? '' : ` (${exit.signal})`} after ${formatDuration(exit.durationMs)}`,
    ],
    ['agent', call.agentId],
    ['handle', line?.handle],
    ['attempt', line?.attempt === undefined ? undefined : String(line.attempt)],
    ['running for', line?.isOpen === true && line.timeMs !== undefined ? formatDuration(line.timeMs) : undefined],
    ['last line', line?.lastLine],
    ['asked for', call.createdAt],
    ['resolved', call.resolvedAt],
    [
      'target',
      target === undefined ? 'none: never dispatched' : `journal ${target.journalId}, sequence ${target.sequence}`,
    ],
  ];
  const known = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name.padEnd(11)}  ${plainText(value).replaceAll('\n', `\n${' '.repeat(13)}`)}`],
  );
  return result === undefined ? known : [...known, '', 'What the model reads:', plainText(result.text)];
}

async function output({ call, reached, flags }: FoundCall): Promise<number> {
  using leaving = new Leaving();
  const note = (text: string): void => void process.stderr.write(`latchkey: ${text}\n`);
  try {
    const agent = await reachAgent(call, reached.agentAddress, process.env);
    try {
      const write = (bytes: Buffer): void => void process.stdout.write(bytes);
      await writeOutput(agent, { follows: flags.follow ?? false, signal: leaving.signal, write, note });
      return 0;
    } finally {
      await agent.client.close();
    }
  } catch (error) {
    if (leaving.signal.aborted) return leaving.exitCode;
    if (!(error instanceof CodedError) || call.result === undefined) throw error;
    note(`${error.message}; what the model read of it:`);
    process.stdout.write(`${plainText(call.result.text)}\n`);
    return 0;
  }
}

async function cancel({ call, reached, flags }: FoundCall): Promise<number> {
  if (isResolved(call.status) && call.status !== 'detached') {
    throw new CodedError('configuration', `call ${call.key} has ended already (${call.status}); nothing was changed.`);
  }
  const { graceSeconds } = flags;
  if (graceSeconds !== undefined && !(graceSeconds >= 0 && graceSeconds <= GRACE_SECONDS_MAX)) {
    throw new CodedError('configuration', `--grace-seconds is a number from 0 to ${GRACE_SECONDS_MAX}.`);
  }
  const agent = await reachAgent(call, reached.agentAddress, process.env);
  try {
    const answer = await agent.client.cancel({
      ...agent.call,
      mode: 'kill',
      waitMs: CANCEL_WAIT_MS + (graceSeconds ?? 0) * 1000,
      ...(graceSeconds !== undefined && { graceMs: graceSeconds * 1000 }),
    });
    const { state, exit, reason, survivors } = answer;
    if (flags.json) process.stdout.write(`${JSON.stringify({ key: call.key, state, exit, reason, survivors })}\n`);
    else {
      const how =
        exit === undefined ? (reason ?? '') : `exit ${exit.code}${exit.signal === undefined ? '' : `, ${exit.signal}`}`;
      const text =
        state === 'fenced' ? 'fenced: nothing ran and never will' : `${state}${how === '' ? '' : ` (${how})`}`;
      const left = survivors.map(({ pid, name }) => `${name} (pid ${pid})`).join(', ');
      const told = `${call.key}: ${text}${left === '' ? '' : `; still alive: ${left}`}`;
      process.stdout.write(`${plainLine(told)}\n`);
    }
    return state === 'running' || survivors.length > 0 ? 1 : 0;
  } finally {
    await agent.client.close();
  }
}
