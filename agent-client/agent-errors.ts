import { CodedError } from '../contract/failures.ts';
import type { FailureCode } from '../contract/failures.ts';
import type { Target } from '../contract/target.ts';

/** A structured refusal or conflict. Evidence only if `answeredBy` is the journal that was asked (K5). */
export class AgentError extends CodedError {
  readonly answeredBy: Target;
  /** With conflicts: the highest message id of the chat that the agent has seen. */
  readonly chatHighestMessageId: number | undefined;

  constructor(details: {
    code: FailureCode;
    message: string;
    field?: string | undefined;
    chatHighestMessageId?: number | undefined;
    answeredBy: Target;
  }) {
    super(details.code, details.message, details.field);
    this.name = 'AgentError';
    this.answeredBy = details.answeredBy;
    this.chatHighestMessageId = details.chatHighestMessageId;
  }
}

/** No word of the agent: not connected, cut off, too late, or an answer that isn't this protocol's. Proves nothing (K5). */
export class AgentUnreachable extends CodedError {
  constructor(message: string, cause?: unknown) {
    super('agent_unreachable', message);
    this.name = 'AgentUnreachable';
    if (cause !== undefined) this.cause = cause;
  }
}
