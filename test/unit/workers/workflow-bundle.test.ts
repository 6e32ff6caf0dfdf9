import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadWorkflowBundle } from '../../../workers/workflow-bundle.ts';

/** Sources of their own and an empty cache; each bundle that is made says how many were. */
function makePlace() {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const root = join(folder, 'checkout');
  for (const source of ['workflows', 'contract/wire']) mkdirSync(join(root, source), { recursive: true });
  writeFileSync(join(root, 'workflows/index.ts'), 'one');
  writeFileSync(join(root, 'contract/wire/start.ts'), 'one');
  let made = 0;
  const load = (from = root) =>
    loadWorkflowBundle({
      root: from,
      env: { LATCHKEY_CACHE_DIR: folder },
      make: async (workflowsPath) => {
        expect(workflowsPath).toBe(join(from, 'workflows/index.ts'));
        made += 1;
        return `bundle ${made}`;
      },
    });
  const cache = join(folder, 'latchkey/workflows');
  return { folder, root, cache, load, made: () => made };
}

test('who starts again makes no bundle', async () => {
  const { load, made } = makePlace();
  expect([await load(), await load()]).toEqual(['bundle 1', 'bundle 1']);
  expect(made()).toBe(1);
});

test.each(['workflows/index.ts', 'contract/wire/start.ts', 'workflows/new.ts'])(
  'with another %s it is made anew, and the one before goes',
  async (file) => {
    const { root, load, cache } = makePlace();
    await load();
    writeFileSync(join(root, file), 'two');
    expect(await load()).toBe('bundle 2');
    expect(readdirSync(cache)).toHaveLength(1);
  },
);

test('two checkouts keep theirs apart, since each names its own files where a workflow fails', async () => {
  const { root, folder, load, cache } = makePlace();
  const other = join(folder, 'other');
  for (const source of ['workflows', 'contract']) mkdirSync(join(other, source), { recursive: true });
  writeFileSync(join(other, 'workflows/index.ts'), 'one');
  expect([await load(root), await load(other), await load(root)]).toEqual(['bundle 1', 'bundle 2', 'bundle 1']);
  expect(readdirSync(cache)).toHaveLength(2);
});

test('a cache that takes nothing holds up nobody', async () => {
  const { folder, load } = makePlace();
  writeFileSync(join(folder, 'latchkey'), 'a file in the place of the folder');
  expect([await load(), await load()]).toEqual(['bundle 1', 'bundle 2']);
});
