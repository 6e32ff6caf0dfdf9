/** The arguments of `execute`, validated and normalised once; what is recorded is never read again. */
import type { ExecuteRequest } from '../../contract/calls.ts';
import { COMMAND_BYTES_MAX, WORKDIR_BYTES_MAX } from '../../contract/limits.ts';
import { isWellFormed, toSafeText, utf8Length } from '../../contract/well-formed.ts';
import { parseJsonObject } from './parse-json-object.ts';
import { parseTimeoutSeconds } from './parse-timeout-seconds.ts';
import type { ParsedArguments } from './parsed-arguments.ts';

const INTENT_CHARACTERS_MAX = 500;
const FIELDS = ['command', 'timeout_seconds', 'workdir', 'background', 'on_timeout', 'intent'];

/** Every fault is named, all at once, so that a model can correct them in one go. */
export function parseExecuteArguments(text: string): ParsedArguments<ExecuteRequest> {
  const parsed = parseJsonObject(text);
  if (parsed.value === undefined) return { argumentsJson: parsed.json, fault: parsed.fault };
  const given = parsed.value;
  const faults: string[] = [];
  const unknown = Object.keys(given).filter((field) => !FIELDS.includes(field));
  if (unknown.length > 0) {
    faults.push(
      `unknown field ${unknown.map((field) => JSON.stringify(field)).join(', ')}; known are ${FIELDS.join(', ')}`,
    );
  }
  const { command, timeout_seconds, workdir, background = false, on_timeout: onTimeout = 'detach', intent } = given;
  const checkedCommand = checkText(command, { name: 'command', bytesMax: COMMAND_BYTES_MAX }, faults);
  const timeout = parseTimeoutSeconds(timeout_seconds);
  if (timeout.fault !== undefined) faults.push(timeout.fault);
  const checkedWorkdir =
    workdir === undefined ? undefined : checkText(workdir, { name: 'workdir', bytesMax: WORKDIR_BYTES_MAX }, faults);
  if (typeof background !== 'boolean') faults.push('background is true or false');
  if (onTimeout !== 'detach' && onTimeout !== 'kill') faults.push('on_timeout is "detach" or "kill"');
  if (intent !== undefined && typeof intent !== 'string') faults.push('intent is a text');
  if (faults.length > 0 || timeout.fault !== undefined) return { argumentsJson: parsed.json, fault: faults.join('; ') };
  return {
    argumentsJson: parsed.json,
    request: {
      command: checkedCommand,
      timeoutSeconds: timeout.seconds,
      background: background === true,
      onTimeout: onTimeout === 'kill' ? 'kill' : 'detach',
      notes: timeout.note === undefined ? [] : [timeout.note],
      ...(checkedWorkdir === undefined ? {} : { workdir: checkedWorkdir }),
      ...(typeof intent === 'string' ? { intent: toSafeText(intent, INTENT_CHARACTERS_MAX) } : {}),
    },
  };
}

/** The text itself where it can be used; else '' and a fault that names the field. */
function checkText(value: unknown, field: { name: string; bytesMax: number }, faults: string[]): string {
  const { name, bytesMax } = field;
  if (value === undefined) faults.push(`${name} is missing`);
  else if (typeof value !== 'string') faults.push(`${name} is not a text`);
  else if (value.trim() === '') faults.push(`${name} is empty`);
  else if (value.includes('\0')) faults.push(`${name} has a NUL character`);
  else if (!isWellFormed(value)) faults.push(`${name} has a lone surrogate, which is not text`);
  else if (utf8Length(value) > bytesMax) faults.push(`${name} has more than ${bytesMax} bytes, its limit`);
  else return value;
  return '';
}
