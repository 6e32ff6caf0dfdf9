/**
 * A history as a file: standard JSON of the Temporal tools, one event a line, without what tells of the machine that it
 * was recorded on. Nothing that decides a replay is touched: ids, types, order, flags, results.
 */
import { homedir, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { historyToJson } from '../history-json.ts';
import type { History } from '../history-json.ts';

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

const CHECKOUT = join(import.meta.dirname, '../../..');

/** Every path within `root` becomes one within `/recorded`. Throws when the machine still shows in the text. */
export function toNeutralJson(history: History, root: string): string {
  const { events } = historyToJson(history) as { events: Json[] };
  const neutral = events.map((event) => neutralise(event, (text) => text.replaceAll(root, '/recorded')));
  const found = machineTraces(neutral);
  if (found.length > 0) throw new Error(`the recorded history still tells of this machine: ${found.join('; ')}`);
  return `{"events":[\n${neutral.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

/** Rewrites each text, also those within payloads. */
function neutralise(value: Json, rewrite: (text: string) => string, name = ''): Json {
  if (Array.isArray(value)) return value.map((item) => neutralise(item, rewrite, name));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, neutralise(item, rewrite, key)]));
  }
  if (typeof value !== 'string') return value;
  // Process ids and host names; whose it was is all that says something.
  if (name === 'identity') return value.includes('@') && !/^\d/.test(value) ? value.replace(/@.*/, '') : 'client';
  if (name === 'stackTrace') return '';
  if (name !== 'data') return rewrite(value);
  return Buffer.from(rewrite(Buffer.from(value, 'base64').toString())).toString('base64');
}

function machineTraces(value: Json, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => machineTraces(item, name));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, item]) => machineTraces(item, key));
  }
  if (typeof value !== 'string') return [];
  const text = name === 'data' ? Buffer.from(value, 'base64').toString() : value;
  const traces = [homedir(), tmpdir(), CHECKOUT, ...(hostname().length > 3 ? [hostname()] : [])];
  return traces.filter((trace) => text.includes(trace)).map((trace) => `${trace} in ${name}: ${text.slice(0, 200)}`);
}
