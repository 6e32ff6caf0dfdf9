import { CodedError } from '../contract/failures.ts';

/** Of a flag. Undefined when it isn't given. */
export function readCount(flag: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new CodedError('configuration', `${flag} is "${given}": must be a whole number.`, flag);
}
