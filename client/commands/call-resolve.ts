/** `latchkey call resolve KEY`: a person's word about a stuck call, where its agent's can't be had. */
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { CodedError, isFailureCode } from '../../contract/failures.ts';
import { RESOLVE_CALL_UPDATE, settleWorkflowId, turnWorkflowId } from '../../contract/names.ts';
import type { ResolveCallAnswer, ResolveCallRequest } from '../../contract/operator.ts';
import { requireCall } from '../calls/find-call.ts';
import { operatorName } from '../calls/operator-name.ts';
import { reachCalls, requireClient } from '../calls/reach-calls.ts';
import { withoutNextStep } from '../chat-errors.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import type { StoredCall } from '../open-store.ts';
import { plainLine } from '../watch/plain-text.ts';
import { whenReady } from '../when-ready.ts';

interface ResolveFlags {
  readonly chat?: string;
  readonly workspace: string;
  readonly exit?: string;
  readonly notRun: boolean;
  readonly unknown: boolean;
  readonly who?: string;
  readonly why: string;
  readonly json: boolean;
}

const HELP = `
The agent is asked first, and what it knows wins: you are told then, and nothing is made up. Without its word
--not-run is refused, since only its fence can prove it; the other two end the wait, and a settle goes on asking.
Exit code: 0 your word stands, 1 the call had or got another end, 125 it was refused.

Examples:
  latchkey call resolve 2-toolu_01 --unknown --why "the machine is gone"
  latchkey call resolve 2-toolu_01 --exit 0 --why "the release is on the server, I looked"
  latchkey call resolve 2-toolu_01 --not-run --why "must never run now"
`;

/** `call` is the command that holds the verbs about one call. */
export function addCallResolveCommand(call: Command, setExitCode: (code: number) => void): void {
  call
    .command('resolve')
    .description("end a stuck call by a person's word")
    .argument('<KEY>', 'as "latchkey calls" shows it, such as 2-toolu_01')
    .option('--exit <CODE>', 'it ended with this exit code')
    .option('--not-run', 'it did not run, and never will', false)
    .option('--unknown', 'nobody can say; the turn goes on', false)
    .requiredOption('--why <TEXT>', 'the reason; the model reads it too')
    .option('--who <NAME>', 'default: your login name')
    .option('--chat <ID>', 'the chat that the key belongs to')
    .option('--workspace <DIR>', 'the folder whose pieces are asked', process.cwd())
    .option('--json', 'one JSON object', false)
    .addHelpText('after', HELP)
    .action(async (key: string, flags: ResolveFlags) => setExitCode(await resolveCall(key, flags)));
}

async function resolveCall(key: string, flags: ResolveFlags): Promise<number> {
  const request = readRequest(key, flags);
  const folder = openStageFolder(flags.workspace, process.env);
  const reached = await reachCalls(folder, process.env);
  try {
    const call = await requireCall(folder, reached.store, { key, chat: flags.chat });
    const answer = await ask(requireClient(reached), call, request);
    const { isOperatorsWord, message } = answer;
    process.stdout.write(flags.json ? `${JSON.stringify(answer)}\n` : `${plainLine(`${call.key}: ${message}`)}\n`);
    return isOperatorsWord ? 0 : 1;
  } finally {
    await reached.close();
  }
}

function readRequest(key: string, flags: ResolveFlags): ResolveCallRequest {
  const { exit, notRun, unknown, why } = flags;
  const common = { key, who: operatorName(flags.who), why };
  const given = [exit !== undefined, notRun, unknown].filter((isGiven) => isGiven).length;
  if (given !== 1) {
    throw new CodedError('configuration', 'say one of --exit CODE, --not-run and --unknown.');
  }
  if (exit === undefined) return { ...common, as: notRun ? 'not_run' : 'unknown' };
  if (!/^[0-9]{1,3}$/.test(exit) || Number(exit) > 255) {
    throw new CodedError('configuration', `--exit is a whole number from 0 to 255, not "${exit}".`);
  }
  return { ...common, as: 'exit', exitCode: Number(exit) };
}

/** A settle that is under way has the call; else its turn. */
async function ask(client: Client, call: StoredCall, request: ResolveCallRequest): Promise<ResolveCallAnswer> {
  const { chatId, key, turn, status } = call;
  for (const workflowId of [settleWorkflowId(chatId, key), turnWorkflowId(chatId, turn)]) {
    const handle = client.workflow.getHandle(workflowId);
    const args: [ResolveCallRequest] = [request];
    try {
      return await whenReady(workflowId, () =>
        handle.executeUpdate<ResolveCallAnswer, [ResolveCallRequest]>(RESOLVE_CALL_UPDATE, { args }),
      );
    } catch (error) {
      // Closed, or never there: nobody waits for the call in that workflow.
      if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw refusalOf(error);
    }
  }
  throw new CodedError('turn_closed', `nobody waits for call ${key} any more; it is ${status}.`);
}

/** The words of the workflow's own refusal, and not that an update failed. */
function refusalOf(error: unknown): unknown {
  const cause = error instanceof Error ? (error.cause as { type?: unknown; message?: unknown } | undefined) : undefined;
  if (cause === undefined || !isFailureCode(cause.type) || typeof cause.message !== 'string') return error;
  return new CodedError(cause.type, withoutNextStep(cause.type, cause.message));
}
