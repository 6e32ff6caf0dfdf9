/** The arguments of `process_output` and `process_list`; every fault is named, all at once. */
import type { ProcessRequest } from '../../contract/calls.ts';
import { PROCESS_WAIT_SECONDS_MAX } from '../../contract/limits.ts';
import { handleSchema } from '../../contract/wire/envelope.ts';
import { parseJsonObject } from './parse-json-object.ts';
import type { ParsedArguments } from './parsed-arguments.ts';

const CURSOR_CHARACTERS_MAX = 64;

export function parseProcessOutputArguments(text: string): ParsedArguments<ProcessRequest> {
  return parseWith(text, ['handle', 'from_byte', 'wait_seconds'], (given, faults) => {
    const handle = handleSchema.safeParse(given['handle']);
    const fromByte = readNumber(given['from_byte']);
    const waitSeconds = readNumber(given['wait_seconds']) ?? 0;
    if (given['handle'] === undefined) faults.push('handle is missing');
    else if (!handle.success || /[^\w.-]/.test(handle.data)) faults.push('handle is not a handle such as "p7"');
    if (fromByte !== undefined && !(Number.isSafeInteger(fromByte) && fromByte >= 0)) {
      faults.push('from_byte is a whole number from 0 on');
    }
    if (!(waitSeconds >= 0)) faults.push('wait_seconds is a number of seconds from 0 on');
    if (faults.length > 0 || !handle.success) return undefined;
    return {
      verb: 'output',
      handle: handle.data,
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

function parseWith(
  text: string,
  fields: readonly string[],
  read: (given: Readonly<Record<string, unknown>>, faults: string[]) => ProcessRequest | undefined,
): ParsedArguments<ProcessRequest> {
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

/** Numbers, or numeric text, which models send; anything else given is NaN. */
function readNumber(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}
