/** Reads a program's settings: a flag wins over its variable, the variable over the default. */
import { parseArgs } from 'node:util';
import type { z } from 'zod';
import { CodedError } from '../contract/failures.ts';

export interface Setting<Value> {
  readonly flag: string;
  readonly variable: string;
  readonly schema: z.ZodType<Value>;
}

export interface SettingSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly args: readonly string[];
}

type Settings = Readonly<Record<string, Setting<unknown>>>;
type ValuesOf<Given extends Settings> = {
  readonly [Name in keyof Given]: Given[Name] extends Setting<infer Value> ? Value : never;
};

export function setting<Value>(flag: string, variable: string, schema: z.ZodType<Value>): Setting<Value> {
  return { flag, variable, schema };
}

/** Throws one `configuration` error that names the setting at fault. An empty variable counts as not set. */
export function readSettings<Given extends Settings>(settings: Given, { env, args }: SettingSources): ValuesOf<Given> {
  const flags = parseFlags(settings, args);
  const values = Object.entries(settings).map(([name, { flag, variable, schema }]) => {
    const given = flags[flag] ?? (env[variable] || undefined);
    const parsed = schema.safeParse(given);
    if (parsed.success) return [name, parsed.data];
    const problem = given === undefined ? 'is not set' : `is ${JSON.stringify(given)}`;
    const reason = parsed.error.issues[0]?.message ?? 'invalid';
    throw new CodedError('configuration', `${variable} (or --${flag}) ${problem}: ${reason}.`, variable);
  });
  return Object.fromEntries(values) as ValuesOf<Given>;
}

function parseFlags(settings: Settings, args: readonly string[]): Record<string, string | undefined> {
  const options = Object.fromEntries(Object.values(settings).map(({ flag }) => [flag, { type: 'string' as const }]));
  try {
    return parseArgs({ args: [...args], options, strict: true }).values;
  } catch (error) {
    const names = Object.keys(options).map((flag) => `--${flag}`);
    const reason = error instanceof Error ? error.message.split('\n')[0] : String(error);
    throw new CodedError('configuration', `${reason} Known: ${names.join(', ')}.`);
  }
}
