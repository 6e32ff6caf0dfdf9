/** The validators of a chat's updates: what they refuse never enters history. No text of theirs echoes what was sent. */
import type { ApplicationFailure } from '@temporalio/workflow';
import type {
  ArchiveRequest,
  BindRequest,
  CancelCallRequest,
  ChatInterruptRequest,
  EditRequest,
  QueuedRequest,
  SendRequest,
} from '../contract/chat.ts';
import { parseExecutionKey } from '../contract/execution-key.ts';
import { Refusal } from '../contract/failures.ts';
import { parseAgentId, parseMessageId } from '../contract/ids.ts';
import { MODEL_CHARACTERS_MAX, OPERATOR_TEXT_CHARACTERS_MAX } from '../contract/limits.ts';
import { requireClientMessageId, requireUserMessage } from '../contract/user-message.ts';
import { requestFailure } from './errors.ts';

export function checkSend(given: SendRequest): void {
  checked(() => {
    const { clientMessageId, text, mode } = asFields(given);
    requireUserMessage({ clientMessageId, text } as SendRequest);
    if (mode !== undefined && mode !== 'queue' && mode !== 'interrupt') {
      throw new Refusal('bad_request', 'mode is "queue" or "interrupt"', 'mode');
    }
  });
}

export function checkEdit(given: EditRequest): void {
  checked(() => {
    const { messageId, clientMessageId, text } = asFields(given);
    parseMessageId(messageId);
    requireUserMessage({ clientMessageId, text } as EditRequest);
  });
}

export function checkQueued(given: QueuedRequest): void {
  checked(() => requireClientMessageId(asFields(given)['clientMessageId']));
}

export function checkInterrupt(given?: ChatInterruptRequest): void {
  checked(() => {
    const { who, turn } = given === undefined || given === null ? {} : asFields(given);
    requireWho(who);
    if (turn !== undefined && !(Number.isSafeInteger(turn) && (turn as number) > 0)) {
      throw new Refusal('bad_request', 'turn is a positive whole number', 'turn');
    }
  });
}

export function checkCancelCall(given: CancelCallRequest): void {
  checked(() => {
    const { key, who } = asFields(given);
    if (typeof key !== 'string') throw new Refusal('bad_request', 'key: give the execution key of the call', 'key');
    parseExecutionKey(key);
    requireWho(who);
  });
}

export function checkBind(given: BindRequest): void {
  checked(() => {
    const { agentId, model } = asFields(given);
    if (agentId === undefined && model === undefined) {
      throw new Refusal('bad_request', 'give agentId, model, or both', 'agentId');
    }
    if (agentId !== undefined) parseAgentId(agentId);
    if (model === undefined) return;
    if (typeof model !== 'string' || model.trim() === '' || model.length > MODEL_CHARACTERS_MAX) {
      throw new Refusal('bad_request', `model has 1 to ${MODEL_CHARACTERS_MAX} characters`, 'model');
    }
  });
}

export function checkArchive(given: ArchiveRequest): void {
  checked(() => {
    if (typeof asFields(given)['isArchived'] === 'boolean') return;
    throw new Refusal('bad_request', 'isArchived is true or false', 'isArchived');
  });
}

function requireWho(who: unknown): void {
  if (who === undefined || (typeof who === 'string' && who.length <= OPERATOR_TEXT_CHARACTERS_MAX)) return;
  throw new Refusal('bad_request', `who has at most ${OPERATOR_TEXT_CHARACTERS_MAX} characters`, 'who');
}

function asFields(given: unknown): Record<string, unknown> {
  if (typeof given === 'object' && given !== null) return given as Record<string, unknown>;
  throw new Refusal('bad_request', 'give one object');
}

function checked(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Refusal ? asFailure(error) : error;
  }
}

function asFailure({ code, message, field }: Refusal): ApplicationFailure {
  return requestFailure(code, message, field);
}
