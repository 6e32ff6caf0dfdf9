/** Reads for a person what `process_output` reads for the model; changes nothing, and leaves no trace in the chat's own history. */
import { TemporalFailure } from '@temporalio/workflow';
import { READ_OUTPUT_MS_MAX } from '../contract/limits.ts';
import type { ReadOutputInput, ReadOutputResult } from '../contract/read-output.ts';
import { controlActivities } from './activity-options.ts';
import { describeError } from './errors.ts';

export async function readOutput(input: ReadOutputInput): Promise<ReadOutputResult> {
  const { chatId, key, target, handle, fromByte } = input;
  const control = controlActivities(target.agentId, READ_OUTPUT_MS_MAX, `output of ${key}`);
  const range = fromByte === undefined ? {} : { fromByte };
  const request = { verb: 'output', handle, waitSeconds: 0, ...range } as const;
  try {
    const { evidence, text } = await control.readProcess({ chatId, target, request });
    const { code, detail } = evidence;
    return code === 'read' ? { state: 'read', text, detail } : { state: 'refused', reason: detail };
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return { state: 'silent', reason: describeError(error) };
  }
}
