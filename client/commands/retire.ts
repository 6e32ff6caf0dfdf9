/** `latchkey agent retire ID`: the agent is gone for good, so every settle that waits for its word ends. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { Command } from 'commander';
import { CodedError } from '../../contract/failures.ts';
import { parseAgentId } from '../../contract/ids.ts';
import type { AgentId } from '../../contract/ids.ts';
import { RETIRE_AGENT_SIGNAL, SEARCH_ATTRIBUTES, SETTLE_WORKFLOW_TYPE } from '../../contract/names.ts';
import type { RetireAgent } from '../../contract/settle.ts';
import { operatorName } from '../calls/operator-name.ts';
import { collectCalls } from '../calls/collect-calls.ts';
import { reachCalls, requireClient } from '../calls/reach-calls.ts';
import type { ReachedCalls } from '../calls/reach-calls.ts';
import { plainLine } from '../watch/plain-text.ts';
import { openStageFolder } from '../dev/stage-folder.ts';

interface RetireFlags {
  readonly why: string;
  readonly who?: string;
  readonly workspace: string;
}

/** Temporal's list may lag behind; what is not in it by then is found by saying the command again. */
const LOOKS_MAX = 20;
const LOOK_MS = 500;

const HELP = `
Its calls become unknown, and nobody asks it again. A call that begins to wait for it later is shown by
"latchkey calls --stuck": say this again. A call whose turn still runs is listed, with the command that ends its wait.
An agent that comes back all the same runs nothing of them twice: its journal still has every key. A copy or a clone
is not retired but adopted: latchkey agent adopt.

Example:
  latchkey agent retire a-25ls118qqaffq7q0 --why "the machine was scrapped"
`;

/** The words after `agent retire`; returns the exit code. */
export async function retireMain(words: readonly string[]): Promise<number> {
  let exitCode = 0;
  const command = new Command('latchkey agent retire')
    .description('end all settles that wait for an agent that is gone for good')
    .argument('<ID>', 'the agent id, such as a-25ls118qqaffq7q0')
    .requiredOption('--why <TEXT>', 'the reason')
    .option('--who <NAME>', 'default: your login name')
    .option('--workspace <DIR>', 'the folder whose Temporal server is asked', process.cwd())
    .addHelpText('after', HELP)
    .exitOverride()
    .action(async (id: string, flags: RetireFlags) => {
      exitCode = await retire(parseAgentId(id), flags);
    });
  await command.parseAsync([...words], { from: 'user' });
  return exitCode;
}

async function retire(agentId: AgentId, flags: RetireFlags): Promise<number> {
  const reached = await reachCalls(openStageFolder(flags.workspace, process.env), process.env);
  try {
    const client = requireClient(reached);
    const word = { who: operatorName(flags.who), why: flags.why };
    // Before the settles end: one that begins meanwhile is shown as waiting for a retired agent.
    await reached.store.recordRetirement({ agentId, ...word });
    const count = await endSettles(client, agentId, word);
    process.stdout.write(
      `agent ${agentId}: ${count === 0 ? 'no call waited for it' : `ended the wait for ${count}`}\n`,
    );
    await tellOfRunning(reached, client, agentId);
    return 0;
  } finally {
    await reached.close();
  }
}

/** A turn that runs waits by its own trust window: whether to end that now is said call by call, since its model reads it. */
async function tellOfRunning({ store }: ReachedCalls, client: Client, agentId: AgentId): Promise<void> {
  const { calls } = await collectCalls({ store, client, filter: { agentId }, endedTurnsMax: 0 });
  const waiting = calls.filter(({ isOpen }) => isOpen);
  if (waiting.length === 0) return;
  const steps = waiting.map(
    ({ key, chatId }) => `  latchkey call resolve ${plainLine(key)} --chat ${chatId} --unknown --why "…"`,
  );
  process.stdout.write(`still waiting in turns that run; end each by:\n${steps.join('\n')}\n`);
}

/** Signals each settle that waits for the agent, until none is left. Returns how many there were. */
export async function endSettles(client: Client, agentId: AgentId, word: RetireAgent): Promise<number> {
  const query = [
    `WorkflowType = '${SETTLE_WORKFLOW_TYPE}'`,
    `${SEARCH_ATTRIBUTES.agentId} = '${agentId}'`,
    `ExecutionStatus = 'Running'`,
  ].join(' AND ');
  const told = new Set<string>();
  for (let look = 1; look <= LOOKS_MAX; look++) {
    let isAnyOpen = false;
    for await (const { workflowId } of client.workflow.list({ query })) {
      isAnyOpen = true;
      if (told.has(workflowId)) continue;
      told.add(workflowId);
      await signal(client, workflowId, word);
    }
    if (!isAnyOpen) return told.size;
    await delay(LOOK_MS);
  }
  throw new CodedError(
    'too_busy',
    `${told.size} settles of agent ${agentId} were told, but some still run: a turn worker must run for them to end.`,
  );
}

async function signal(client: Client, workflowId: string, word: RetireAgent): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).signal<[RetireAgent]>(RETIRE_AGENT_SIGNAL, word);
  } catch (error) {
    // It has ended by itself meanwhile.
    if (!(error instanceof Error) || error.name !== 'WorkflowNotFoundError') throw error;
  }
}
