/** The arguments of `process_output`, `process_list` and `process_signal`; every fault is named, all at once. */
import type { ProcessRequest, SendSignalRequest } from '../../contract/calls.ts';
import type { Handle } from '../../contract/ids.ts';
import { PROCESS_WAIT_SECONDS_MAX } from '../../contract/limits.ts';
import { SIGNALS } from '../../contract/signals.ts';
import type { SignalName } from '../../contract/signals.ts';
import { firstLine } from '../../contract/well-formed.ts';
import { handleSchema } from '../../contract/wire/envelope.ts';
import { parseJsonObject } from './parse-json-object.ts';
import type { ParsedArguments } from './parsed-arguments.ts';

const CURSOR_CHARACTERS_MAX = 64;

export function parseProcessOutputArguments(text: string): ParsedArguments<ProcessRequest> {
  return parseWith(text, ['handle', 'from_byte', 'wait_seconds'], (given, faults) => {
    const handle = readHandle(given['handle'], faults);
    const fromByte = readNumber(given['from_byte']);
    const waitSeconds = readNumber(given['wait_seconds']) ?? 0;
    if (fromByte !== undefined && !(Number.isSafeInteger(fromByte) && fromByte >= 0)) {
      faults.push('from_byte is a whole number from 0 on');
    }
    if (!(waitSeconds >= 0)) faults.push('wait_seconds is a number of seconds from 0 on');
    if (faults.length > 0 || handle === undefined) return undefined;
    return {
      verb: 'output',
      handle,
      waitSeconds: Math.min(waitSeconds, PROCESS_WAIT_SECONDS_MAX),
      ...(fromByte === undefined ? {} : { fromByte }),
    };
  });
}

export function parseProcessListArguments(text: string): ParsedArguments<ProcessRequest> {
  // Some models send nothing at all to a tool that needs nothing.
  return parseWith(text.trim() === '' ? '{}' : text, ['include_ended', 'after'], (given, faults) => {
    const { include_ended: includeEnded = false, after } = given;
    if (typeof includeEnded !== 'boolean') faults.push('include_ended is true or false');
    const isCursor = typeof after === 'string' && after.length <= CURSOR_CHARACTERS_MAX && /^\d+$/.test(after);
    if (after !== undefined && !isCursor) faults.push('after is what an earlier list ended with');
    if (faults.length > 0) return undefined;
    return { verb: 'list', includeEnded: includeEnded === true, ...(isCursor ? { after } : {}) };
  });
}

export function parseProcessSignalArguments(text: string): ParsedArguments<SendSignalRequest> {
  return parseWith(text, ['handle', 'signal'], (given, faults) => {
    const handle = readHandle(given['handle'], faults);
    const signal = findSignal(given['signal']);
    if (signal === undefined) {
      const what = given['signal'] === undefined ? 'is missing' : `${quote(given['signal'])} can't be sent`;
      faults.push(`signal ${what}; give one of ${SIGNALS.join(', ')}`);
    }
    return handle === undefined || signal === undefined ? undefined : { verb: 'signal', handle, signal };
  });
}

function parseWith<Request extends object>(
  text: string,
  fields: readonly string[],
  read: (given: Readonly<Record<string, unknown>>, faults: string[]) => Request | undefined,
): ParsedArguments<Request> {
  const { json: argumentsJson, value, fault } = parseJsonObject(text);
  if (value === undefined) return { argumentsJson, fault };
  const unknown = Object.keys(value).filter((field) => !fields.includes(field));
  const names = unknown.map((field) => JSON.stringify(field)).join(', ');
  const faults = unknown.length === 0 ? [] : [`unknown field ${names}; known are ${fields.join(', ')}`];
  const request = read(value, faults);
  return request === undefined || faults.length > 0
    ? { argumentsJson, fault: faults.join('; ') }
    : { argumentsJson, request };
}

function readHandle(value: unknown, faults: string[]): Handle | undefined {
  const handle = handleSchema.safeParse(value);
  if (handle.success && !/[^\w.-]/.test(handle.data)) return handle.data;
  faults.push(value === undefined ? 'handle is missing' : 'handle is not a handle such as "p7"');
  return undefined;
}

/** Models leave the SIG out, or write it small; a number isn't taken, since it means another signal on another system. */
function findSignal(value: unknown): SignalName | undefined {
  if (typeof value !== 'string') return undefined;
  const name = value.trim().toUpperCase();
  return SIGNALS.find((signal) => signal === name || signal === `SIG${name}`);
}

const QUOTED_CHARACTERS_MAX = 40;

function quote(value: unknown): string {
  return firstLine(JSON.stringify(value), QUOTED_CHARACTERS_MAX);
}

/** Numbers, or numeric text, which models send; anything else given is NaN. */
function readNumber(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}
