/** The store: everything that can be asked of it. Each method is one transaction; its file says what it promises. */
import type { Kysely } from 'kysely';
import type {
  CloseStepInput,
  CloseStepResult,
  CloseStrayTurnResult,
  CompactConversationResult,
  EndTurnInput,
  FindStraysResult,
  GenerateStepResult,
  RecordCancelRequestsInput,
  RecordResultInput,
  RecordResultResult,
  RecordTargetsInput,
  RecordTargetsResult,
  RecordTruthInput,
  TakeTurnInput,
  TakeTurnResult,
} from '../contract/activity-interfaces.ts';
import type {
  ArchiveChatInput,
  BindChatInput,
  ChatFacts,
  ChatTurnName,
  CheckEditResult,
  ClaimNextTurnInput,
  ClaimNextTurnResult,
  EditMessageInput,
  EditMessageResult,
  FindStoppableInput,
  FindStoppableResult,
  OpenChatInput,
  OpenChatResult,
  QueuedMessageName,
} from '../contract/chat-activities.ts';
import type { AgentId, ChatId, ExecutionKey } from '../contract/ids.ts';
import type { ConversationMessage } from '../contract/messages.ts';
import type { RetireAgent } from '../contract/settle.ts';
import type { StrayTurn } from '../contract/sweep.ts';
import type { TurnEnd } from '../contract/turn.ts';
import { exportChat } from './archive/export-chat.ts';
import { importChat } from './archive/import-chat.ts';
import type { ImportChatInput, ImportedChat } from './archive/import-chat.ts';
import type { StoredCall } from './call-row.ts';
import { findCall, listCalls, recordCancelRequests, recordResult, recordTargets } from './calls.ts';
import { listQueued } from './chat-snapshot.ts';
import type { WaitingMessage } from './chat-snapshot.ts';
import type { ChatChanges } from './chat-changes.ts';
import { archiveChat, bindChat, createChat, findChat, findChatRow, noteInterrupting } from './chats.ts';
import type { Chat, CreateChatInput } from './chats.ts';
import { claimNextTurn } from './claims.ts';
import { commitStep } from './commit-step.ts';
import type { CommitStepInput } from './commit-step.ts';
import { announceCompaction, beginCompaction, commitCompaction, findContextUse } from './compactions.ts';
import type {
  BeginCompactionInput,
  BeginCompactionResult,
  CommitCompactionInput,
  CompactionAttempt,
} from './compactions.ts';
import { loadConversation } from './conversation.ts';
import { OlderParts } from './older-part.ts';
import { checkEdit, editMessage } from './edits.ts';
import { findStoppable } from './stoppable-calls.ts';
import { findEndedTurn } from './ended-turn.ts';
import type { EndedTurn } from './ended-turn.ts';
import { followChat } from './follow-chat.ts';
import type { ChatFrame, FollowInput } from './follow-chat.ts';
import type { Schema } from './schema.ts';
import { recordTruth } from './late-truth.ts';
import { openChat } from './open-chat.ts';
import { deleteQueued, enqueueUserMessage, findQueuedMessage, promoteQueued } from './queue.ts';
import type { EnqueueUserMessageInput, EnqueueUserMessageResult, QueuedMessage } from './queue.ts';
import { listChats } from './list-chats.ts';
import type { ChatPage, ListChatsInput } from './list-chats.ts';
import { listMessages } from './list-messages.ts';
import type { ListMessagesInput, MessagePage } from './list-messages.ts';
import { listRetiredAgents, recordRetirement } from './retired-agents.ts';
import type { RetiredAgent } from './retired-agents.ts';
import { noteRetry } from './step-retry.ts';
import type { StepRetry } from './step-retry.ts';
import { listUsage } from './step-usage.ts';
import type { StepUsage, UsedStep } from './step-usage.ts';
import { beginStep, closeStep, writePart } from './steps.ts';
import type { BeginStepInput, BeginStepResult, StepAttempt } from './steps.ts';
import { closeStrayTurn, listUnfinished } from './strays.ts';
import { readEvents } from './stream-events.ts';
import type { StreamEvent } from './stream-events.ts';
import { pruneEvents } from './stream-retention.ts';
import { readAgain } from './transaction.ts';
import { endTurn, findTurn, reserveNextTurn, takeTurn } from './turns.ts';
import type { Turn } from './turns.ts';

export interface Store {
  createChat(input: CreateChatInput): Promise<void>;
  findChat(chatId: ChatId): Promise<Chat | undefined>;
  openChat(input: OpenChatInput): Promise<OpenChatResult>;
  bindChat(input: BindChatInput): Promise<ChatFacts>;
  archiveChat(input: ArchiveChatInput): Promise<ChatFacts>;
  noteInterrupting(input: ChatTurnName): Promise<void>;
  enqueueUserMessage(input: EnqueueUserMessageInput): Promise<EnqueueUserMessageResult>;
  findQueuedMessage(input: QueuedMessageName): Promise<QueuedMessage | undefined>;
  deleteQueued(input: QueuedMessageName): Promise<ChatFacts>;
  promoteQueued(input: QueuedMessageName): Promise<ChatFacts>;
  checkEdit(input: EditMessageInput): Promise<CheckEditResult>;
  editMessage(input: EditMessageInput): Promise<EditMessageResult>;
  findStoppable(input: FindStoppableInput): Promise<FindStoppableResult>;
  claimNextTurn(input: ClaimNextTurnInput): Promise<ClaimNextTurnResult>;

  reserveNextTurn(chatId: ChatId): Promise<number>;
  takeTurn(input: TakeTurnInput): Promise<TakeTurnResult>;
  endTurn(input: EndTurnInput): Promise<{ readonly state: TurnEnd }>;
  findTurn(input: { chatId: ChatId; turn: number }): Promise<Turn | undefined>;
  findEndedTurn(input: { chatId: ChatId; turn: number }): Promise<EndedTurn | undefined>;
  loadConversation(chatId: ChatId): Promise<readonly ConversationMessage[]>;

  beginCompaction(input: BeginCompactionInput): Promise<BeginCompactionResult>;
  announceCompaction(attempt: CompactionAttempt, messageCount: number): Promise<void>;
  commitCompaction(attempt: CompactionAttempt, input: CommitCompactionInput): Promise<CompactConversationResult>;
  findContextUse(chatId: ChatId): Promise<StepUsage | undefined>;

  beginStep(input: BeginStepInput): Promise<BeginStepResult>;
  writePart(attempt: StepAttempt, text: string): Promise<void>;
  noteRetry(attempt: StepAttempt, retry: StepRetry): Promise<void>;
  commitStep(attempt: StepAttempt, input: CommitStepInput): Promise<GenerateStepResult>;
  closeStep(input: CloseStepInput): Promise<CloseStepResult>;
  closeStrayTurn(input: StrayTurn): Promise<CloseStrayTurnResult>;
  /** Turns that run, and calls whose end is still asked for: what a sweep compares with Temporal. */
  listUnfinished(): Promise<FindStraysResult>;
  listUsage(input: { chatId: ChatId; turn?: number }): Promise<readonly UsedStep[]>;

  recordTargets(input: RecordTargetsInput): Promise<RecordTargetsResult>;
  recordResult(input: RecordResultInput): Promise<RecordResultResult>;
  recordCancelRequests(input: RecordCancelRequestsInput): Promise<void>;
  recordTruth(input: RecordTruthInput): Promise<RecordResultResult>;
  findCall(input: { chatId: ChatId; key: ExecutionKey }): Promise<StoredCall | undefined>;
  listCalls(input: { chatId: ChatId; turn?: number }): Promise<readonly StoredCall[]>;

  listChats(input: ListChatsInput): Promise<ChatPage>;
  listMessages(input: ListMessagesInput): Promise<MessagePage>;
  /** Lines of text, to be read until their end; see archive/format.ts. */
  exportChat(chatId: ChatId): AsyncGenerator<string, void, void>;
  importChat(input: ImportChatInput): Promise<ImportedChat>;

  recordRetirement(input: RetireAgent & { agentId: AgentId }): Promise<void>;
  listRetiredAgents(): Promise<readonly RetiredAgent[]>;

  readEvents(input: { chatId: ChatId; after: number; limit: number }): Promise<readonly StreamEvent[]>;
  followChat(input: FollowInput): AsyncGenerator<ChatFrame, void, void>;
  /** The number of its last event; undefined where there is no such chat. */
  findCursor(chatId: ChatId): Promise<number | undefined>;
  listQueued(chatId: ChatId): Promise<readonly WaitingMessage[]>;
  pruneEvents(input: { chatId: ChatId; through: number }): Promise<void>;
  close(): Promise<void>;
}

export function createStore(db: Kysely<Schema>, changes: ChatChanges): Store {
  const older = new OlderParts();
  return {
    createChat: (input) => createChat(db, input),
    findChat: (chatId) => readAgain(() => findChat(db, chatId)),
    openChat: (input) => openChat(db, input),
    bindChat: (input) => bindChat(db, input),
    archiveChat: (input) => archiveChat(db, input),
    noteInterrupting: (input) => noteInterrupting(db, input),
    enqueueUserMessage: (input) => enqueueUserMessage(db, input),
    findQueuedMessage: (input) => findQueuedMessage(db, input),
    deleteQueued: (input) => deleteQueued(db, input),
    promoteQueued: (input) => promoteQueued(db, input),
    checkEdit: (input) => checkEdit(db, input),
    editMessage: (input) => editMessage(db, input),
    findStoppable: (input) => readAgain(() => findStoppable(db, input)),
    claimNextTurn: (input) => claimNextTurn(db, input),
    reserveNextTurn: (chatId) => reserveNextTurn(db, chatId),
    takeTurn: (input) => takeTurn(db, input),
    endTurn: (input) => endTurn(db, input),
    findTurn: (input) => readAgain(() => findTurn(db, input)),
    findEndedTurn: (input) => readAgain(() => findEndedTurn(db, input)),
    loadConversation: (chatId) => loadConversation({ db, older }, chatId),
    beginCompaction: (input) => beginCompaction(db, input),
    announceCompaction: (attempt, messageCount) => announceCompaction(db, attempt, messageCount),
    commitCompaction: (attempt, input) => commitCompaction(db, attempt, input),
    findContextUse: (chatId) => findContextUse(db, chatId),
    beginStep: (input) => beginStep(db, input),
    writePart: (attempt, text) => writePart(db, attempt, text),
    noteRetry: (attempt, retry) => noteRetry(db, attempt, retry),
    commitStep: (attempt, input) => commitStep(db, attempt, input),
    closeStep: (input) => closeStep(db, input),
    closeStrayTurn: (input) => closeStrayTurn(db, input),
    listUnfinished: () => readAgain(() => listUnfinished(db)),
    listUsage: (input) => readAgain(() => listUsage(db, input)),
    recordTargets: (input) => recordTargets(db, input),
    recordResult: (input) => recordResult(db, input),
    recordCancelRequests: (input) => recordCancelRequests(db, input),
    recordTruth: (input) => recordTruth(db, input),
    findCall: (input) => readAgain(() => findCall(db, input)),
    listCalls: (input) => readAgain(() => listCalls(db, input)),
    listChats: (input) => readAgain(() => listChats(db, input)),
    listMessages: (input) => listMessages(db, input),
    exportChat: (chatId) => exportChat(db, chatId),
    importChat: (input) => importChat(db, input),
    recordRetirement: (input) => recordRetirement(db, input),
    listRetiredAgents: () => readAgain(() => listRetiredAgents(db)),
    readEvents: (input) => readAgain(() => readEvents(db, input)),
    followChat: (input) => followChat({ db, changes }, input),
    findCursor: (chatId) => readAgain(async () => (await findChatRow(db, chatId))?.last_event_seq),
    listQueued: (chatId) => readAgain(() => listQueued(db, chatId)),
    pruneEvents: (input) => pruneEvents(db, input),
    close: async () => {
      changes.close();
      await db.destroy();
    },
  };
}
