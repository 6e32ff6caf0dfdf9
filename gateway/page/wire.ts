/** The gateway's words, as far as the page reads them: docs/gateway.md. A test holds them against what is sent. */

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export interface Call {
  readonly key: string;
  readonly toolName: string;
  readonly summary: string;
  readonly status: string;
  readonly evidence?: { readonly code: string; readonly detail: string };
  readonly result?: { readonly text: string; readonly isError: boolean };
  readonly handle?: string;
  readonly exitCode?: number;
  readonly durationMs?: number;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly createdAt?: string;
  readonly resolvedAt?: string;
}

/** What a running call says of itself; worth something only now. */
export interface Tail {
  readonly type: 'tail';
  readonly key: string;
  readonly attempt: number;
  readonly phase: 'dispatching' | 'running' | 'unreachable';
  readonly ageMs?: number;
  readonly bytes?: number;
  readonly lastLine?: string;
  readonly unreachableSince?: string;
}

interface MessageBase {
  readonly type: 'message';
  readonly id: number;
  readonly turn: number;
  readonly text: string;
}

export type MessageBody =
  | (MessageBase & { readonly role: 'user'; readonly clientMessageId: string })
  | (MessageBase & { readonly role: 'assistant'; readonly step: number; readonly calls: readonly Call[] })
  | (MessageBase & { readonly role: 'summary'; readonly messageCount: number });

export type RunState = 'idle' | 'running' | 'interrupting';

export interface Waiting {
  readonly clientMessageId: string;
  readonly text: string;
}

export type FrameBody =
  | { readonly type: 'status'; readonly state: RunState; readonly turn?: number; readonly error?: Failure }
  | { readonly type: 'turn'; readonly turn: number; readonly state: string; readonly error?: Failure }
  | ({ readonly type: 'queued' } & Waiting)
  | { readonly type: 'queue'; readonly queue: readonly string[] }
  | {
      readonly type: 'chat';
      readonly agentId: string;
      readonly epoch: number;
      readonly isArchived: boolean;
      readonly model?: string;
      readonly title?: string;
    }
  | { readonly type: 'hidden'; readonly fromId: number; readonly epoch: number }
  | MessageBody
  | { readonly type: 'compaction'; readonly messageCount: number }
  | {
      readonly type: 'part';
      readonly turn: number;
      readonly step: number;
      readonly text: string;
    }
  | { readonly type: 'withdrawn'; readonly turn: number; readonly step: number }
  | {
      readonly type: 'retry';
      readonly code: string;
      readonly message: string;
      readonly retryInMs: number;
    }
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'note'; readonly key: string; readonly text: string };

export type Frame =
  | { readonly type: 'reset' }
  | { readonly type: 'live'; readonly hasEarlier: boolean }
  | (FrameBody & { readonly snapshot: true })
  | (FrameBody & { readonly at: string })
  | Tail;

export interface ListedChat {
  readonly chatId: string;
  readonly title?: string;
  readonly state: 'idle' | 'running' | 'archived';
  readonly lastError?: Failure;
  readonly updatedAt: string;
}

export interface ListedMessage {
  readonly id: number;
  readonly role: 'user' | 'assistant' | 'summary';
  readonly turn: number;
  readonly step?: number;
  readonly clientMessageId?: string;
  readonly text: string;
  readonly calls: readonly Call[];
  readonly notes: readonly { readonly key: string; readonly text: string }[];
}

export interface Settings {
  /** Where the Temporal UI shows workflows of the gateway's namespace; absent where it isn't known. */
  readonly temporalWorkflowsUrl?: string;
  readonly agentId?: string;
  readonly model?: string;
}
