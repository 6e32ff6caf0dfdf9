/** `npm run record-histories`: records what the newest generation of histories has not. See CONTRIBUTING.md. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KINDS } from './kinds.ts';
import type { Kind } from './kinds/kind.ts';
import { HISTORIES, listGenerations, readHistories } from './recorded-history.ts';
import type { RecordedEvent, RecordedHistory } from './recorded-history.ts';
import { toNeutralJson } from './recording/neutral-history.ts';
import { RecordingSystem } from './recording/recording-system.ts';

const USAGE = `Usage: npm run record-histories [-- --new]

Runs the real thing (a dev server, an agent, both workers, a script for a model) and records the histories of each kind
that the newest generation under test/replay/histories has not. A recorded history is never overwritten.

  --new   begin a generation: record every kind anew, beside the earlier ones
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { new: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) return void process.stdout.write(USAGE);
  const newest = listGenerations().at(-1);
  const generation = newest === undefined ? 1 : newest + (values.new ? 1 : 0);
  const folder = join(HISTORIES, String(generation));
  mkdirSync(folder, { recursive: true });
  const recorded = new Set(readHistories(generation).map(({ kind }) => kind));
  const missing = KINDS.filter(({ name }) => !recorded.has(name));
  if (missing.length === 0) {
    return void process.stdout.write(
      `generation ${generation} has every kind; --new begins another (CONTRIBUTING.md)\n`,
    );
  }
  const system = await RecordingSystem.open();
  try {
    for (const kind of missing) await record(system, kind, { generation, folder });
  } finally {
    await system.close();
  }
}

async function record(
  system: RecordingSystem,
  kind: Kind,
  { generation, folder }: { readonly generation: number; readonly folder: string },
): Promise<void> {
  const files: Record<string, string> = {};
  const parts: Record<string, RecordedHistory> = {};
  for (const [part, { workflowId, runId }] of Object.entries(await kind.record(system))) {
    const text = toNeutralJson(
      await system.client.workflow.getHandle(workflowId, runId).fetchHistory(),
      system.stage.root,
    );
    const { events } = JSON.parse(text) as { events: RecordedEvent[] };
    files[join(folder, `${kind.name}.${part}.json`)] = text;
    parts[part] = { generation, kind: kind.name, part, events };
  }
  const untrue = Object.entries(kind.facts(parts)).filter(([, isTrue]) => !isTrue);
  if (untrue.length > 0)
    throw new Error(`${kind.name}: not true of what was recorded: ${untrue.map(([fact]) => fact).join('; ')}`);
  for (const [file, text] of Object.entries(files)) {
    if (existsSync(file)) throw new Error(`${file} is there already`);
    writeFileSync(file, text);
    process.stdout.write(`${kind.name}: ${file.slice(HISTORIES.length + 1)} (${text.length} bytes)\n`);
  }
}

await main();
