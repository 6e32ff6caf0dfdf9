/**
 * A chat from outside: sends, edits, interrupts, by updates of its workflow, which is started by whoever asks first and
 * rebuilt from its rows when it was lost. Everything may be asked again; sends and edits count once by client message id.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import type { Client } from '@temporalio/client';
import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/common';
import { requireUserMessage } from '../contract/user-message.ts';
import type {
  ArchiveAnswer,
  ArchiveRequest,
  BindAnswer,
  BindRequest,
  CancelCallAnswer,
  CancelCallRequest,
  ChatInput,
  ChatInterruptAnswer,
  ChatInterruptRequest,
  ChatView,
  ChatWithoutView,
  EditAnswer,
  EditRequest,
  NewChat,
  QueueAnswer,
  QueuedRequest,
  SendAnswer,
  SendRequest,
} from '../contract/chat.ts';
import { CodedError, findFailureCode, Refusal } from '../contract/failures.ts';
import type { ChatId } from '../contract/ids.ts';
import { TURN_SUMMARY_CHARACTERS_MAX, WORKFLOW_TASK_TIMEOUT_MS } from '../contract/limits.ts';
import { firstLine } from '../contract/well-formed.ts';
import { CHAT_QUERY, CHAT_UPDATES, CHAT_WORKFLOW_TYPE, chatWorkflowId, searchAttribute } from '../contract/names.ts';
import { isClosing, readChatError } from './chat-errors.ts';
import { followChat } from './follow-chat.ts';
import type { FollowOptions } from './follow-chat.ts';
import type { ChatFrame, Store, StoredCall } from './open-store.ts';
import { readOutput } from './read-output.ts';
import type { OutputRequest, ReadOutput } from './read-output.ts';
import { whenReady } from './when-ready.ts';

/** A workflow that closes while it is asked, such as one of an archived chat, is started again. */
const TRIES_MAX = 5;
const AGAIN_MS = 50;
/** A chat that moves to another run is opened within a task; one whose store is away, when that is back. */
const VIEWS_MAX = 200;

export interface ChatClientOptions {
  readonly client: Client;
  /** Of the turn workers. */
  readonly taskQueue: string;
  /** What `follow`, `calls` and `output` read; the rest works without. */
  readonly store?: Pick<Store, 'followChat' | 'listCalls' | 'findCall'>;
  /** What chats that are started from here pass on to their turns. */
  readonly turns?: Omit<ChatInput, 'chatId' | 'create' | 'isContinued'>;
}

export class ChatClient {
  readonly #options: ChatClientOptions;

  constructor(options: ChatClientOptions) {
    this.#options = options;
  }

  /** With `create` the chat is made if there is none. Refused in words before anything is sent where that can be told. */
  async send(chatId: ChatId, request: SendRequest, create?: NewChat): Promise<SendAnswer> {
    // An update that is too large wedges the workflow for ever, so it must not leave here.
    requireUserMessage(request);
    return this.#ask<SendAnswer>(chatId, CHAT_UPDATES.send, request, create);
  }

  async edit(chatId: ChatId, request: EditRequest): Promise<EditAnswer> {
    requireUserMessage(request);
    return this.#ask<EditAnswer>(chatId, CHAT_UPDATES.edit, request);
  }

  deleteQueued(chatId: ChatId, request: QueuedRequest): Promise<QueueAnswer> {
    return this.#ask<QueueAnswer>(chatId, CHAT_UPDATES.deleteQueued, request);
  }

  promoteQueued(chatId: ChatId, request: QueuedRequest): Promise<QueueAnswer> {
    return this.#ask<QueueAnswer>(chatId, CHAT_UPDATES.promoteQueued, request);
  }

  interrupt(chatId: ChatId, request: ChatInterruptRequest = {}): Promise<ChatInterruptAnswer> {
    return this.#ask<ChatInterruptAnswer>(chatId, CHAT_UPDATES.interrupt, request);
  }

  /** Answers when the command has ended, or its agent did not say so within the grace of an interrupt. */
  cancelCall(chatId: ChatId, request: CancelCallRequest): Promise<CancelCallAnswer> {
    return this.#ask<CancelCallAnswer>(chatId, CHAT_UPDATES.cancelCall, request);
  }

  bind(chatId: ChatId, request: BindRequest): Promise<BindAnswer> {
    return this.#ask<BindAnswer>(chatId, CHAT_UPDATES.bind, request);
  }

  archive(chatId: ChatId, request: ArchiveRequest): Promise<ArchiveAnswer> {
    return this.#ask<ArchiveAnswer>(chatId, CHAT_UPDATES.archive, request);
  }

  /** By a query, so a turn worker must be there. Refusal `unknown_chat` where no workflow of the chat was ever started. */
  async view(chatId: ChatId): Promise<ChatView> {
    const handle = this.#options.client.workflow.getHandle(chatWorkflowId(chatId));
    try {
      for (let tries = 1; ; tries += 1) {
        const look = () => handle.query<ChatView | ChatWithoutView>(CHAT_QUERY);
        const view = await whenReady(handle.workflowId, look);
        if (typeof view !== 'string') return view;
        if (view === 'unknown') throw new Refusal('unknown_chat', `the store has no chat ${chatId}`, 'chatId');
        if (tries >= VIEWS_MAX) throw new CodedError('too_busy', `chat ${chatId} is being opened`);
        await sleep(AGAIN_MS);
      }
    } catch (error) {
      throw readChatError(error, chatId);
    }
  }

  /**
   * A snapshot, or what came after the cursor `after`, and then each event as it comes; over breaks of the store, until
   * `signal` aborts. Each event once and in order, or a `reset` and a snapshot (S1). Throws `unknown_chat`.
   */
  follow(options: FollowOptions): AsyncGenerator<ChatFrame, void, void> {
    const store = this.#requireStore();
    return followChat((input) => store.followChat(input), options);
  }

  /** By the store: of an open call it knows less than `latchkey calls`, which asks Temporal too. */
  calls(chatId: ChatId, turn?: number): Promise<readonly StoredCall[]> {
    return this.#requireStore().listCalls({ chatId, ...(turn !== undefined && { turn }) });
  }

  /** What a call's command has printed so far, by its agent's word, also while it runs or in the background. */
  output(chatId: ChatId, request: OutputRequest): Promise<ReadOutput> {
    const { client, taskQueue } = this.#options;
    return readOutput({ client, taskQueue, store: this.#requireStore() }, chatId, request);
  }

  #requireStore(): NonNullable<ChatClientOptions['store']> {
    if (this.#options.store !== undefined) return this.#options.store;
    throw new CodedError('configuration', 'that needs the store: give the ChatClient one', 'store');
  }

  async #ask<Answer>(chatId: ChatId, update: string, request: object, create?: NewChat): Promise<Answer> {
    const { workflow } = this.#options.client;
    const askOnce = () =>
      workflow.executeUpdateWithStart<Chat, Answer, [object]>(update, {
        args: [request],
        startWorkflowOperation: this.#startOperation(chatId, create),
      });
    for (let tries = 1; ; tries += 1) {
      try {
        return await whenReady(chatWorkflowId(chatId), askOnce);
      } catch (error) {
        const read = readChatError(error, chatId);
        // Its store went back to before the chat was made: the next run makes it anew.
        const isLost = create !== undefined && findFailureCode(read) === 'unknown_chat';
        if (tries >= TRIES_MAX || (!isLost && !isClosing(error))) throw read;
        await sleep(AGAIN_MS * tries);
      }
    }
  }

  #startOperation(chatId: ChatId, create: NewChat | undefined): WithStartWorkflowOperation<Chat> {
    const { taskQueue, turns } = this.#options;
    return new WithStartWorkflowOperation<Chat>(CHAT_WORKFLOW_TYPE, {
      workflowId: chatWorkflowId(chatId),
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      taskQueue,
      args: [{ chatId, ...turns, ...(create === undefined ? {} : { create }) }],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT_MS,
      staticSummary: firstLine(`chat ${chatId}`, TURN_SUMMARY_CHARACTERS_MAX),
      typedSearchAttributes: [searchAttribute('chatId', chatId)],
    });
  }
}

type Chat = (input: ChatInput) => Promise<void>;
