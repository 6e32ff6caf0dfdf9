/** The pieces that the drill breaks: real processes and a Temporal server of their own, gone when it ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import { startTurn } from '../../client/start-turn.ts';
import type { TurnHandle } from '../../client/start-turn.ts';
import { parseChatId } from '../../contract/ids.ts';
import type { AgentId, ChatId } from '../../contract/ids.ts';
import { Stage } from '../../demo/stage.ts';
import type { Piece } from '../../demo/stage.ts';
import type { StoredCall } from '../../store/call-row.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store.ts';
import { connectClient } from '../../tools/temporal/connection.ts';
import { startDevServer } from '../../tools/temporal/dev-server.ts';
import type { DevServer } from '../../tools/temporal/dev-server.ts';
import { removeCgroupsOf } from '../fixtures/cgroups.ts';
import { findMarked, killMarked } from '../fixtures/processes.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

/** Starting one loads the SDK's native part; more at once only get in each other's way. */
const STARTS_SIDE_BY_SIDE = 3;
const WAIT_MS_MAX = 60_000;
/** Short, so that what is stuck is so within the drill. */
const TIMINGS = { heartbeatTimeoutMs: 3000, interruptGraceMs: 1500 };
/** A killed worker counts as gone after this; the default of 70 s is what a person waits for. */
const POLLER_SILENCE_MS = 25_000;

/** One workspace: an agent and the execute worker beside it. */
export interface Place {
  readonly stage: Stage;
  agent: Piece;
  worker: Piece;
  readonly agentId: AgentId;
}

export interface Said {
  readonly exitCode: number;
  readonly output: string;
  readonly errors: string;
}

/** A call that waits for its gate. */
export interface HeldCall {
  readonly place: Place;
  readonly chatId: ChatId;
  readonly handle: TurnHandle;
  readonly name: string;
  row(): Promise<StoredCall>;
  openGate(): void;
  countRuns(): number;
}

export class BrokenSystem {
  readonly client: Client;
  readonly store: Store;
  readonly temporal: NodeJS.ProcessEnv;
  /** Run before the pieces are ended. */
  readonly cleanUp: (() => Promise<unknown> | void)[] = [];
  readonly #server: DevServer;
  readonly #central: Stage;
  readonly #stages: Stage[];
  readonly #agentIds: AgentId[] = [];
  readonly #calls: HeldCall[] = [];
  readonly #limit = pLimit(STARTS_SIDE_BY_SIDE);

  private constructor(parts: { server: DevServer; client: Client; store: Store; central: Stage }) {
    this.#server = parts.server;
    this.client = parts.client;
    this.store = parts.store;
    this.#central = parts.central;
    this.#stages = [parts.central];
    this.temporal = { TEMPORAL_ADDRESS: parts.server.address, TEMPORAL_NAMESPACE: parts.server.namespace };
  }

  /** Always a server of its own: what is broken here is nobody else's. */
  static async open(): Promise<BrokenSystem> {
    const server = await startDevServer({ env: { ...process.env, TEMPORAL_ADDRESS: undefined } });
    const client = await connectClient({ address: server.address, namespace: server.namespace });
    const central = new Stage();
    const store = await openStore(central.storeUrl);
    const system = new BrokenSystem({ server, client, store, central });
    try {
      await central.startTurnWorker(system.temporal);
      return system;
    } catch (error) {
      await system.close();
      throw error;
    }
  }

  openPlace(): Promise<Place> {
    return this.#limit(async () => {
      const stage = new Stage();
      // Known before it is complete, so that it is cleared whatever happens.
      this.#stages.push(stage);
      mkdirSync(stage.workspace);
      const agent = await stage.startAgent();
      const worker = await stage.startExecuteWorker(this.temporal);
      const asked = createAgentClient({ address: stage.agentAddress });
      const { agentId } = await asked.info({});
      await asked.close();
      this.#agentIds.push(agentId);
      return { stage, agent, worker, agentId };
    });
  }

  /** A turn whose one command runs and waits for its gate, then exits with 3. */
  async hold(place: Place, name: string, timeoutSeconds = 900): Promise<HeldCall> {
    const { stage } = place;
    const chatId = parseChatId(`drill-${name}`);
    const gate = join(stage.root, `go-${name}`);
    const command = `echo ${name} >> "$RUN_LOG"; until [ -e '${gate}' ]; do sleep 0.2; done; exit 3`;
    const script = join(stage.root, `script-${name}.json`);
    const calls = [{ id: 'a', name: 'execute', arguments: { command, timeout_seconds: timeoutSeconds } }];
    writeFileSync(script, JSON.stringify({ steps: [{ text: 'I run it.', calls }, { text: 'Done.' }] }));
    await this.store.createChat({ chatId, agentId: place.agentId });
    await this.store.enqueueUserMessage({ chatId, clientMessageId: name, text: name });
    const turn = await this.store.reserveNextTurn(chatId);
    const input = { chatId, turn, agentId: place.agentId, model: `scripted:${script}`, timings: TIMINGS };
    const handle = await startTurn(this.client, { input, taskQueue: 'latchkey-turns', userText: name });
    const runs = (): number =>
      readFileSync(stage.runLog, 'utf8')
        .split('\n')
        .filter((line) => line === name).length;
    const call: HeldCall = {
      place,
      chatId,
      handle,
      name,
      row: async () => {
        const [row] = await this.store.listCalls({ chatId });
        if (row === undefined) throw new Error(`the call of ${name} is not in the store`);
        return row;
      },
      openGate: () => writeFileSync(gate, ''),
      countRuns: runs,
    };
    this.#calls.push(call);
    await waitUntil(`the command of ${name} runs`, () => runs() > 0, { deadlineMs: WAIT_MS_MAX });
    return call;
  }

  /** The command line as an operator runs it. */
  async latchkey(...words: string[]): Promise<Said> {
    const main = join(import.meta.dirname, '../../client/latchkey.ts');
    const child = spawn(process.execPath, [main, ...words], {
      cwd: this.#central.root,
      env: {
        ...process.env,
        ...this.temporal,
        XDG_STATE_HOME: join(this.#central.root, 'xdg'),
        LATCHKEY_STORE: this.#central.storeUrl,
        LATCHKEY_TURN_QUEUE: 'latchkey-turns',
        LATCHKEY_AGENT_ADDRESS: this.#central.agentAddress,
        LATCHKEY_POLLER_SILENCE_MS: String(POLLER_SILENCE_MS),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (child.exitCode === null) await once(child, 'exit');
    return { exitCode: child.exitCode ?? -1, output, errors };
  }

  /** Ends everything; returns what was still there after that, one line each. */
  async close(): Promise<string[]> {
    for (const call of this.#calls) if (existsSync(call.place.stage.root)) call.openGate();
    for (const step of this.cleanUp.toReversed()) await step();
    await Promise.all(this.#stages.map((stage) => stage.clear({ keepFolder: true })));
    const roots = this.#stages.map(({ root }) => root);
    const left = (): string[] => roots.flatMap((root) => findMarked(root).map(({ commandLine }) => commandLine));
    await waitUntil('the commands have ended', () => left().length === 0, { deadlineMs: 10_000 }).catch(
      () => undefined,
    );
    const found = left();
    for (const root of roots) killMarked(root);
    for (const agentId of this.#agentIds) await removeCgroupsOf(agentId);
    await this.store.close();
    await this.client.connection.close();
    await this.#server.stop();
    await Promise.all(this.#stages.map((stage) => stage.clear({ keepFolder: false })));
    return found;
  }
}
