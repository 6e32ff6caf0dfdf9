/** The real thing that histories are recorded from: a dev server, an agent, both workers, a script for a model. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import { ChatClient } from '../../../client/chat-client.ts';
import { startTurn } from '../../../client/start-turn.ts';
import type { TurnHandle } from '../../../client/start-turn.ts';
import { readPendingActivities } from '../../../client/watch/pending-activities.ts';
import { parseChatId } from '../../../contract/ids.ts';
import type { AgentId, ChatId, ExecutionKey, MessageId } from '../../../contract/ids.ts';
import { TURN_TASK_QUEUE_DEFAULT, turnWorkflowId } from '../../../contract/names.ts';
import type { TurnInput } from '../../../contract/turn.ts';
import { Stage } from '../../../demo/stage.ts';
import type { Piece } from '../../../demo/stage.ts';
import { openStore } from '../../../store/open-store.ts';
import type { Store } from '../../../store/store.ts';
import { connectClient } from '../../../tools/temporal/connection.ts';
import { startDevServer } from '../../../tools/temporal/dev-server.ts';
import type { DevServer } from '../../../tools/temporal/dev-server.ts';
import { removeCgroupsOf } from '../../fixtures/cgroups.ts';
import { killMarked } from '../../fixtures/processes.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const WAIT_MS_MAX = 60_000;
/** Short, so that the deaths that are recorded are noticed soon. */
const TIMINGS = { heartbeatTimeoutMs: 3000, interruptGraceMs: 1500, describeAgentMs: 3000 };

export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: object;
}

/** What the model says in each step: the calls it asks for, none in the last one. */
export type Script = readonly (readonly ScriptedCall[])[];

export class RecordingSystem {
  readonly client: Client;
  readonly store: Store;
  readonly stage: Stage;
  readonly temporal: NodeJS.ProcessEnv;
  agent: Piece;
  worker: Piece;
  readonly agentId: AgentId;
  readonly #server: DevServer;

  private constructor(
    parts: Pick<RecordingSystem, 'client' | 'store' | 'stage' | 'agent' | 'worker' | 'agentId'> & { server: DevServer },
  ) {
    this.client = parts.client;
    this.store = parts.store;
    this.stage = parts.stage;
    this.agent = parts.agent;
    this.worker = parts.worker;
    this.agentId = parts.agentId;
    this.#server = parts.server;
    this.temporal = temporalOf(parts.server);
  }

  /** Always on a server of its own: what is recorded must not depend on who else uses one. */
  static async open(): Promise<RecordingSystem> {
    const server = await startDevServer({ env: { ...process.env, TEMPORAL_ADDRESS: undefined } });
    const stage = new Stage();
    mkdirSync(stage.workspace);
    const store = await openStore(stage.storeUrl);
    try {
      const agent = await stage.startAgent();
      const [worker] = await Promise.all([
        stage.startExecuteWorker(temporalOf(server)),
        stage.startTurnWorker(temporalOf(server)),
      ]);
      const asked = createAgentClient({ address: stage.agentAddress });
      const { agentId } = await asked.info({});
      await asked.close();
      const client = await connectClient({ address: server.address, namespace: server.namespace });
      return new RecordingSystem({ server, client, store, stage, agent, worker, agentId });
    } catch (error) {
      await stage.clear({ keepFolder: false });
      await store.close();
      await server.stop();
      throw error;
    }
  }

  /** A turn of a new chat. Its steps are those of the script, and one without calls at the end. */
  async startTurn(
    name: string,
    script: Script,
    { taskQueue = TURN_TASK_QUEUE_DEFAULT, ...input }: Partial<TurnInput> & { readonly taskQueue?: string } = {},
  ): Promise<RecordedTurn> {
    const chatId = parseChatId(`recorded-${name}`);
    const model = this.#script(name, { steps: stepsOf(script) });
    const { agentId } = this;
    await this.store.createChat({ chatId, agentId });
    await this.store.enqueueUserMessage({ chatId, clientMessageId: 'message-1', text: 'Please do it.' });
    const turn = await this.store.reserveNextTurn(chatId);
    const handle = await startTurn(this.client, {
      taskQueue,
      userText: 'Please do it.',
      input: { chatId, turn, agentId, model, timings: TIMINGS, ...input },
    });
    return new RecordedTurn(this, handle, chatId);
  }

  /** A chat that isn't there yet. A message with one of these texts gets these calls in its first step, any other none. */
  openChat(
    name: string,
    callsByText: Readonly<Record<string, readonly ScriptedCall[]>>,
    updatesMax: number,
  ): RecordedChat {
    const stepsByText = Object.fromEntries(
      Object.entries(callsByText).map(([text, calls]) => [text, stepsOf([calls])]),
    );
    const model = this.#script(name, { steps: stepsOf([]), stepsByText });
    const { client } = this;
    const chats = new ChatClient({
      client,
      taskQueue: TURN_TASK_QUEUE_DEFAULT,
      turns: { timings: TIMINGS, updatesMax },
    });
    return new RecordedChat(this, { chatId: parseChatId(`recorded-${name}`), chats, model });
  }

  /** Gives the model that answers by it. */
  #script(name: string, script: object): string {
    const path = join(this.stage.root, `script-${name}.json`);
    writeFileSync(path, JSON.stringify(script));
    return `scripted:${path}`;
  }

  /** What held commands wait for. */
  openGate(gate: string): void {
    writeFileSync(join(this.stage.workspace, gate), '');
  }

  async close(): Promise<void> {
    await this.stage.clear({ keepFolder: true });
    killMarked(this.stage.root);
    await removeCgroupsOf(this.agentId);
    await this.store.close();
    await this.client.connection.close();
    await this.#server.stop();
    await this.stage.clear({ keepFolder: false });
  }
}

export class RecordedTurn {
  readonly handle: TurnHandle;
  readonly chatId: ChatId;
  readonly #system: RecordingSystem;

  constructor(system: RecordingSystem, handle: TurnHandle, chatId: ChatId) {
    this.#system = system;
    this.handle = handle;
    this.chatId = chatId;
  }

  /** Waits until the command of a tool call runs in an attempt of at least this number; gives the call's key. */
  async running(toolCallId: string, attempt = 1): Promise<ExecutionKey> {
    return this.until(`${toolCallId} runs in attempt ${attempt}`, async () => {
      const pending = readPendingActivities(await this.handle.describe()).find(({ activityId }) =>
        activityId.endsWith(`-${toolCallId}`),
      );
      if (pending?.heartbeat?.handle === undefined || pending.isOfEarlierAttempt) return undefined;
      return pending.attempt >= attempt ? pending.heartbeat.key : undefined;
    });
  }

  async rowStatus(toolCallId: string): Promise<string | undefined> {
    const calls = await this.#system.store.listCalls({ chatId: this.chatId });
    return calls.find((call) => call.toolCallId === toolCallId)?.status;
  }

  until<Value>(what: string, look: () => Promise<Value | undefined | false>): Promise<Value> {
    return waitUntil(what, look, { deadlineMs: WAIT_MS_MAX });
  }
}

export class RecordedChat {
  readonly chatId: ChatId;
  readonly chats: ChatClient;
  readonly model: string;
  readonly #system: RecordingSystem;

  constructor(system: RecordingSystem, chat: Pick<RecordedChat, 'chatId' | 'chats' | 'model'>) {
    this.#system = system;
    this.chatId = chat.chatId;
    this.chats = chat.chats;
    this.model = chat.model;
  }

  /** Waits until the command of a tool call runs, in whichever turn is the chat's; gives the call's key. */
  async running(toolCallId: string): Promise<ExecutionKey> {
    const turn = await waitUntil('a turn runs', async () => (await this.chats.view(this.chatId)).turn, {
      deadlineMs: WAIT_MS_MAX,
    });
    const handle = this.#system.client.workflow.getHandle(turnWorkflowId(this.chatId, turn));
    return new RecordedTurn(this.#system, handle, this.chatId).running(toolCallId);
  }

  /** Waits until nothing runs and nothing waits. */
  async idle(): Promise<void> {
    const isIdle = async (): Promise<boolean> => {
      const { state, queue } = await this.chats.view(this.chatId);
      return state === 'idle' && queue.length === 0;
    };
    await waitUntil('the chat is idle', isIdle, { deadlineMs: WAIT_MS_MAX });
  }

  /** Of the user's message with this text. */
  async messageId(text: string): Promise<MessageId> {
    const messages = await this.#system.store.loadConversation(this.chatId);
    const found = messages.find((message) => message.role === 'user' && message.text === text);
    if (found?.role !== 'user') throw new Error(`the chat has no message "${text}"`);
    return found.id;
  }
}

function stepsOf(script: Script): object[] {
  return [...script.map((calls) => ({ text: 'I run something.', calls })), { text: 'Done.' }];
}

/** A command that runs until its gate is opened, then exits with 3. */
export function held(id: string, gate: string): ScriptedCall {
  return execute(id, `echo waiting; until [ -e ${gate} ]; do sleep 0.1; done; exit 3`);
}

export function execute(id: string, command: string, more: object = {}): ScriptedCall {
  return { id, name: 'execute', arguments: { command, ...more } };
}

function temporalOf(server: DevServer): NodeJS.ProcessEnv {
  return { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: server.namespace };
}
