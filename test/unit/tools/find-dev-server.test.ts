import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findFailureCode } from '../../../contract/failures.ts';
import { DEV_SERVER_SOURCES, findDevServer } from '../../../tools/temporal/find-dev-server.ts';
import { goBuild } from '../../../tools/temporal/go-build.ts';
import { chosenCli, cliOnPath } from '../../../tools/temporal/installed-cli.ts';
import type { ServerSource, SourceAnswer } from '../../../tools/temporal/server-source.ts';

const NEW_ENOUGH = 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'latchkey-find-server-'));
  await mkdir(path.join(folder, 'bin'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** A program on the PATH of these tests. */
async function addProgram(name: string, body: string): Promise<string> {
  const file = path.join(folder, 'bin', name);
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
  return file;
}

/** A `go` that "builds" a program with that answer to --version, and writes down that it ran. */
async function addGo(answer = NEW_ENOUGH): Promise<void> {
  await addProgram(
    'go',
    `echo ran >> ${folder}/go-runs
echo "go: downloading something" >&2
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho "%s"\\n' '${answer}' > "$2"
/bin/chmod 755 "$2"`,
  );
}

function context(extra: Record<string, string> = {}): {
  env: Record<string, string>;
  onProgress: (line: string) => void;
  progress: string[];
} {
  const progress: string[] = [];
  return {
    env: { PATH: path.join(folder, 'bin'), HOME: folder, LATCHKEY_CACHE_DIR: path.join(folder, 'cache'), ...extra },
    onProgress: (line) => void progress.push(line),
    progress,
  };
}

/** In the place of the SDK's download, which would ask the network. */
function download(answer: { ready?: string; made?: string }): ServerSource {
  return {
    name: "the SDK's download",
    look: async () => answerOf(answer.ready),
    make: async () => answerOf(answer.made),
  };
}

function answerOf(file: string | undefined): SourceAnswer {
  return file === undefined ? { reason: 'the host can not be reached' } : { path: file };
}

function sources(answer: { ready?: string; made?: string } = {}): ServerSource[] {
  return [chosenCli, cliOnPath, download(answer), goBuild];
}

describe('the order of the ways to a dev server', () => {
  test('is TEMPORAL_CLI, PATH, the download of the SDK, the Go build', () => {
    expect(DEV_SERVER_SOURCES.map(({ name }) => name)).toEqual([
      'TEMPORAL_CLI',
      '`temporal` on PATH',
      "the SDK's download",
      'Go build of the pinned CLI',
    ]);
  });

  test('TEMPORAL_CLI wins over PATH', async () => {
    await addProgram('temporal', `echo '${NEW_ENOUGH}'`);
    const chosen = await addProgram('chosen', `echo '${NEW_ENOUGH}'`);
    expect(await findDevServer(context({ TEMPORAL_CLI: chosen }), sources())).toEqual({
      path: chosen,
      source: 'TEMPORAL_CLI',
    });
  });

  test('`temporal` on PATH wins over a download that is there', async () => {
    const onPath = await addProgram('temporal', `echo '${NEW_ENOUGH}'`);
    expect((await findDevServer(context(), sources({ ready: '/downloaded' }))).path).toBe(onPath);
  });

  test('a `temporal` on PATH that is too old is passed over', async () => {
    await addProgram('temporal', "echo 'temporal version 0.10.7 (Server 1.21.0, UI 2.10.3)'");
    expect((await findDevServer(context(), sources({ ready: '/downloaded' }))).path).toBe('/downloaded');
  });

  test('a server that was built before is used without asking for a download', async () => {
    await addGo();
    const first = await findDevServer(context(), sources());
    expect(first.source).toBe('Go build of the pinned CLI');
    const asked: string[] = [];
    const silent: ServerSource = {
      name: "the SDK's download",
      look: async () => ({ reason: 'no' }),
      async make() {
        asked.push('download');
        return { reason: 'no' };
      },
    };
    expect(await findDevServer(context(), [chosenCli, cliOnPath, silent, goBuild])).toEqual(first);
    expect(asked).toEqual([]);
  });

  test('the download comes before a build', async () => {
    await addGo();
    expect((await findDevServer(context(), sources({ made: '/downloaded' }))).path).toBe('/downloaded');
    expect(await readdir(folder)).not.toContain('go-runs');
  });
});

describe('the Go build', () => {
  test('lands in the cache folder, tells its progress, and two builders at once do not hurt', async () => {
    await addGo();
    const one = context();
    const found = await Promise.all([findDevServer(one, sources()), findDevServer(context(), sources())]);
    const cache = path.join(folder, 'cache', 'latchkey', 'temporal');
    expect(found.map((server) => server.path)).toEqual(Array(2).fill(path.join(cache, 'temporal-1.5.1')));
    expect(await readdir(cache)).toEqual(['temporal-1.5.1']);
    expect(one.progress[0]).toMatch(/^building the Temporal dev server: 0 s, 0 packages/);
  });
});

describe('when there is no way', () => {
  test('one error lists all five with the reason of each, and the next step', async () => {
    await addProgram('temporal', "echo 'temporal version 0.10.7 (Server 1.21.0, UI 2.10.3)'");
    await addProgram('go', 'echo "go: module lookup failed: no route to host" >&2; exit 1');
    const error: unknown = await findDevServer(context(), sources()).catch((thrown: unknown) => thrown);
    expect(findFailureCode(error)).toBe('temporal_unreachable');
    const lines = String(error).split('\n');
    expect(lines.slice(1, 6)).toEqual([
      '  1. TEMPORAL_ADDRESS: not set',
      '  2. TEMPORAL_CLI: not set',
      `  3. \`temporal\` on PATH: ${folder}/bin/temporal has server 1.21; 1.28 or newer is needed`,
      "  4. the SDK's download: the host can not be reached",
      '  5. Go build of the pinned CLI: go build ended with exit code 1: go: module lookup failed: no route to host',
    ]);
    expect(lines.at(-1)).toContain('Set TEMPORAL_ADDRESS');
    expect(await readdir(path.join(folder, 'cache', 'latchkey', 'temporal'))).toEqual([]);
  });

  test('a machine without Go is told so', async () => {
    await expect(findDevServer(context(), sources())).rejects.toThrow(
      '5. Go build of the pinned CLI: `go` is not on PATH',
    );
  });

  test('a TEMPORAL_CLI that can not be used is refused by name, not passed over', async () => {
    await addProgram('temporal', `echo '${NEW_ENOUGH}'`);
    const error: unknown = await findDevServer(context({ TEMPORAL_CLI: '/no/such' }), sources()).catch(
      (thrown: unknown) => thrown,
    );
    expect(findFailureCode(error)).toBe('configuration');
    expect(String(error)).toContain("TEMPORAL_CLI can't be used: /no/such is not an executable file");
  });
});
