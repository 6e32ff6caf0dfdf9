/**
 * What people have asked for by `resolveCall`, by call. A handler files a request here and waits; the code that waits
 * for the call's evidence looks at that first and answers then (A6 of shared/notes/temporal-live.md).
 */
import type { ApplicationFailure } from '@temporalio/workflow';
import type { FailureCode } from '../contract/failures.ts';
import { OPERATOR_TEXT_CHARACTERS_MAX } from '../contract/limits.ts';
import type { ResolveCallAnswer, ResolveCallRequest } from '../contract/operator.ts';
import { requestFailure } from './errors.ts';

interface Filed {
  readonly request: ResolveCallRequest;
  readonly answer: (answer: ResolveCallAnswer) => void;
  readonly refuse: (failure: Error) => void;
}

export class OperatorRequests {
  readonly #filed = new Map<string, Filed[]>();

  file(request: ResolveCallRequest): Promise<ResolveCallAnswer> {
    return new Promise((answer, refuse) => {
      this.#filed.set(request.key, [...(this.#filed.get(request.key) ?? []), { request, answer, refuse }]);
    });
  }

  /** The oldest open request on this call. */
  find(key: string): ResolveCallRequest | undefined {
    return this.#filed.get(key)?.[0]?.request;
  }

  has(key: string): boolean {
    return this.find(key) !== undefined;
  }

  /** Refuses the oldest open request; nothing changed. */
  refuse(key: string, code: FailureCode, message: string): void {
    this.#filed.get(key)?.shift()?.refuse(requestFailure(code, message));
  }

  /** The call has its end: answers the oldest request with `first`, and tells all others that it was settled before them. */
  answerAll(key: string, end: Pick<ResolveCallAnswer, 'status' | 'evidence'>, first?: ResolveCallAnswer): void {
    const filed = this.#filed.get(key) ?? [];
    this.#filed.delete(key);
    const won = evidenceWon(end);
    for (const [index, { answer }] of filed.entries()) answer(index === 0 ? (first ?? won) : won);
  }
}

export function evidenceWon({ status, evidence }: Pick<ResolveCallAnswer, 'status' | 'evidence'>): ResolveCallAnswer {
  return {
    isOperatorsWord: false,
    status,
    evidence,
    message: `nothing was changed: the call is ${status} already (${evidence.detail})`,
  };
}

/** For an update's validator: throws, naming the field, for anything that is no `ResolveCallRequest`. */
export function requireResolveCallRequest(given: unknown): asserts given is ResolveCallRequest {
  if (typeof given !== 'object' || given === null) throw badRequest('give one object: key, as, who, why');
  const { key, as, exitCode, who, why } = given as Record<string, unknown>;
  if (typeof key !== 'string' || key === '') throw badRequest('key: give the execution key of the call');
  if (as !== 'exit' && as !== 'not_run' && as !== 'unknown') {
    throw badRequest('as: give "exit", "not_run" or "unknown"');
  }
  if (as === 'exit' && !(Number.isInteger(exitCode) && (exitCode as number) >= 0 && (exitCode as number) <= 255)) {
    throw badRequest('exitCode: with as "exit" give a whole number from 0 to 255');
  }
  if (as !== 'exit' && exitCode !== undefined) throw badRequest('exitCode: only with as "exit"');
  for (const [name, text] of Object.entries({ who, why })) {
    if (typeof text !== 'string' || text.trim() === '' || text.length > OPERATOR_TEXT_CHARACTERS_MAX) {
      throw badRequest(`${name}: give 1 to ${OPERATOR_TEXT_CHARACTERS_MAX} characters`);
    }
  }
}

function badRequest(message: string): ApplicationFailure {
  return requestFailure('bad_request', message);
}
