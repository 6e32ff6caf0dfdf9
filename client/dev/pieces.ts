/** The four pieces of a stage: how each is started, and with what. */
import { join } from 'node:path';
import { CodedError } from '../../contract/failures.ts';
import { startDevServer } from '../../tools/temporal/dev-server.ts';
import type { DevServer } from '../../tools/temporal/dev-server.ts';
import { isPortBusy } from '../../tools/temporal/ports.ts';
import { askAgent } from '../ask-agent.ts';
import { findProcess, isRunning } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { PieceToStart, RunningPiece, Say } from './running-piece.ts';
import type { StageFolder } from './stage-folder.ts';
import type { StagePlaces } from './stage-record.ts';
import { startProgram } from './start-program.ts';

/** How soon the end of a process that isn't our child is seen. */
const LOOK_MS = 500;
const ASK_AGENT_MS_MAX = 2000;

export interface PieceContext {
  readonly folder: StageFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
}

export interface Ports {
  readonly port?: number | undefined;
  readonly uiPort?: number | undefined;
}

/** Tells where the server is; a second start takes the same ports, so that the workers find it again. */
export function temporalServer(
  { folder, env, say }: PieceContext,
  wanted: Ports,
  tell: (server: DevServer) => void,
): PieceToStart {
  let ports = wanted;
  return {
    name: 'temporal server',
    async start(stopping) {
      stopping.throwIfAborted();
      const server = await startDevServer({
        dbFile: folder.temporalDatabase,
        ui: true,
        env,
        outlivesParent: true,
        onProgress: (line) => say('temporal server', line),
        ...(ports.port !== undefined && { port: ports.port }),
        ...(ports.uiPort !== undefined && { uiPort: ports.uiPort }),
      });
      const identity = server.pid === undefined ? undefined : findProcess(server.pid);
      if (identity === undefined || stopping.aborted) {
        await server.stop();
        stopping.throwIfAborted();
        throw new CodedError('temporal_unreachable', 'the Temporal dev server ended right after its start');
      }
      ports = { port: portOf(server.address), uiPort: portOf(server.uiUrl) };
      tell(server);
      const ui = server.uiUrl === undefined ? '' : `, UI at ${server.uiUrl}`;
      return {
        process: identity,
        isOurs: true,
        detail: `ready: ${server.address}${ui} (${server.source})`,
        ...watchProcess(identity),
        stop: server.stop,
      };
    },
  };
}

/** The agent of this workspace: one that answers already is used as it is. */
export function agent({ folder, env, say }: PieceContext): PieceToStart {
  return {
    name: 'agent',
    async start(stopping) {
      const found = await findAgent(folder);
      if (found !== undefined) return found;
      const words = ['--workspace', folder.workspace, '--state', folder.agentState];
      const ours = withoutSecrets(env, /^TEMPORAL_/);
      return startProgram({ name: 'agent', program: 'agent/main', words, env: ours, say, stopping });
    },
  };
}

export function executeWorker({ env, say }: PieceContext, places: () => StagePlaces): PieceToStart {
  return {
    name: 'execute worker',
    start: (stopping) => {
      const settings = { ...temporalVariables(places()), LATCHKEY_AGENT_ADDRESS: places().agentAddress };
      const name = 'execute worker';
      const ours = { ...withoutSecrets(env), ...settings };
      return startProgram({ name, program: 'workers/execute-worker', env: ours, say, stopping });
    },
  };
}

export function turnWorker({ env, say }: PieceContext, places: () => StagePlaces): PieceToStart {
  return {
    name: 'turn worker',
    start: (stopping) => {
      const { storeUrl, turnQueue } = places();
      const settings = { ...temporalVariables(places()), LATCHKEY_STORE: storeUrl, LATCHKEY_TURN_QUEUE: turnQueue };
      const name = 'turn worker';
      return startProgram({ name, program: 'workers/turn-worker', env: { ...env, ...settings }, say, stopping });
    },
  };
}

/** The workspace's side knows no model key (design 1): a command could read it from the environment of a process. */
function withoutSecrets(env: NodeJS.ProcessEnv, also = /^$/): NodeJS.ProcessEnv {
  const isTheirs = (name: string): boolean =>
    (/_API_KEY$|^LATCHKEY_(MODEL|STORE|WEBHOOK)/.test(name) && name !== 'TEMPORAL_API_KEY') || also.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isTheirs(name)));
}

/** The ports of the last time, as far as they are free: a bookmark of the UI stays good. */
export async function lastPorts(places: StagePlaces | undefined): Promise<Ports> {
  const free = async (port: number | undefined) => (port !== undefined && !(await isPortBusy(port)) ? port : undefined);
  return { port: await free(portOf(places?.temporalAddress)), uiPort: await free(portOf(places?.temporalUiUrl)) };
}

function temporalVariables(places: StagePlaces): NodeJS.ProcessEnv {
  return { TEMPORAL_ADDRESS: places.temporalAddress, TEMPORAL_NAMESPACE: places.temporalNamespace };
}

async function findAgent(folder: StageFolder): Promise<RunningPiece | undefined> {
  const address = `unix:${join(folder.agentState, 'agent.sock')}`;
  try {
    const info = await askAgent({ address, answerMarginMs: ASK_AGENT_MS_MAX });
    const identity = findProcess(info.pid);
    if (identity === undefined) return undefined;
    if (info.workspace !== folder.workspace) {
      throw new CodedError(
        'configuration',
        `the agent at ${address} serves ${info.workspace}, not ${folder.workspace}`,
      );
    }
    const { ended } = watchProcess(identity);
    const detail = `ready: agent ${info.agentId} runs here already and is used as it is`;
    return { process: identity, isOurs: false, detail, ended, stop: async () => undefined };
  } catch (error) {
    if (error instanceof CodedError && error.code === 'agent_unreachable') return undefined;
    throw error;
  }
}

function watchProcess(identity: ProcessIdentity): Pick<RunningPiece, 'ended'> {
  const ended = new Promise<string>((resolve) => {
    const timer = setInterval(() => {
      if (isRunning(identity)) return;
      clearInterval(timer);
      resolve('ended');
    }, LOOK_MS);
    // Looking keeps nobody alive.
    timer.unref();
  });
  return { ended };
}

function portOf(address: string | undefined): number | undefined {
  const match = /:(\d+)\/?$/.exec(address ?? '');
  return match === null ? undefined : Number(match[1]);
}
