import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { Refusal } from '../../contract/failures.ts';

const stepSchema = z.strictObject({
  /** The answer is held back until this file is there, so that a test can do something in the meantime. */
  holdUntilFile: z.string().optional(),
  text: z.string().optional(),
  calls: z
    .array(
      z.strictObject({
        /** Left out: empty, as some providers send it. */
        id: z.string().optional(),
        name: z.string(),
        /** A text is sent as it is, also if it isn't JSON. */
        arguments: z.union([z.record(z.string(), z.unknown()), z.string()]),
      }),
    )
    .optional(),
});
export type ScriptStep = z.infer<typeof stepSchema>;

const scriptSchema = z.strictObject({
  /** One an assistant message, counted from the last message of the user. */
  steps: z.array(stepSchema).min(1),
  /** Instead of those, after a message of the user with exactly this text. */
  stepsByText: z.record(z.string(), z.array(stepSchema).min(1)).optional(),
  /** The answer to a request for a summary; default: one that says how long the record was. */
  summary: z.string().min(1).optional(),
  /** Before each piece that is streamed. */
  delayMs: z.int().min(0).max(60_000).optional(),
});
export type Script = z.infer<typeof scriptSchema>;

/** Reads a script; throws a refusal (`configuration`) that names the file and the first thing wrong with it. */
export async function readScript(file: string): Promise<Script> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw badScript(file, error instanceof Error ? error.message : String(error));
  }
  const parsed = scriptSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw badScript(file, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unreadable'}`);
}

function badScript(file: string, cause: string): Refusal {
  return new Refusal('configuration', `the script ${file} of the scripted model can't be used: ${cause}`, 'model');
}
