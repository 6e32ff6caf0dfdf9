import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';

/** Whole or not at all: a reader never sees half of it. */
export function writeJson(file: string, value: unknown): void {
  const half = `${file}.${process.pid}.new`;
  writeFileSync(half, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(half, file);
}

/** Undefined when it isn't there or isn't of this form (another version wrote it): then it says nothing. */
export function readJson<Value>(file: string, schema: z.ZodType<Value>): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
