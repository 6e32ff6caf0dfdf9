/** `latchkey gateway`: serves the chats of this folder's pieces, or of the configured ones, over HTTP. */
import type { Command } from 'commander';
import { agentAt, askAgentId } from '../ask-agent.ts';
import { configuredPlaces } from '../dev/reach-stage.ts';
import { openStageFolder } from '../dev/stage-folder.ts';
import { findLiveRecord } from '../dev/stage-record.ts';
import { Leaving } from '../run/leaving.ts';

interface GatewayFlags {
  readonly listen?: string;
  readonly workspace: string;
}

const HELP = `
Without TEMPORAL_ADDRESS and LATCHKEY_STORE it serves what "latchkey dev" runs for this folder. It owns nothing: any
number of gateways may run, and each may be stopped at any time.

Variables:
  LATCHKEY_GATEWAY_LISTEN   host:port; default 127.0.0.1:7244
  LATCHKEY_GATEWAY_TOKENS   a JSON file, or JSON: [{"name": "app", "token": "…", "chats": "*"}]; chats may be a list of
                            ids, where "ci-*" stands for all that begin so. Without tokens: this machine only
  LATCHKEY_GATEWAY_AGENT    the agent of chats that are made without naming one; default: the folder's
  LATCHKEY_MODEL            their model
  LATCHKEY_TEMPORAL_UI      where its page links to turns in the Temporal UI; default: the one that runs for the folder

Examples:
  latchkey gateway                                   in one terminal, "latchkey dev" in another; then open its address
  curl -N http://127.0.0.1:7244/v1/chats/ID/events   what happens in a chat, as it happens
`;

export function addGatewayCommand(program: Command): void {
  program
    .command('gateway')
    .description('serve chats over HTTP, for front ends')
    .option('--listen <HOST:PORT>', 'where to listen (default: LATCHKEY_GATEWAY_LISTEN)')
    .option('--workspace <DIR>', 'the folder whose pieces are served', process.cwd())
    .addHelpText('after', HELP)
    .action(gateway);
}

async function gateway({ listen, workspace }: GatewayFlags): Promise<void> {
  const folder = openStageFolder(workspace, process.env);
  const places = configuredPlaces(folder, process.env) ?? findLiveRecord(folder)?.places;
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  // Only a default: a gateway may well run where no agent can be reached.
  const agentId =
    places === undefined
      ? undefined
      : await askAgentId(agentAt(places.agentAddress, process.env)).catch(() => undefined);
  const found = {
    TEMPORAL_ADDRESS: places?.temporalAddress,
    TEMPORAL_NAMESPACE: places?.temporalNamespace,
    LATCHKEY_TEMPORAL_UI: places?.temporalUiUrl,
    LATCHKEY_STORE: places?.storeUrl,
    LATCHKEY_TURN_QUEUE: places?.turnQueue,
    LATCHKEY_GATEWAY_AGENT: agentId,
  };
  const env = { ...found, ...definedOnly(process.env) };
  const { runGateway } = await import('../../gateway/main.ts');
  using leaving = new Leaving();
  await runGateway({ env, args: listen === undefined ? [] : ['--listen', listen], say }, leaving.signal);
}

/** An empty variable counts as not set. */
function definedOnly(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}
