/** `latchkey exec`, as a person runs it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AgentFolder } from '../../fixtures/agent-process.ts';
import { AgentProcess, makeAgentFolder } from '../../fixtures/agent-process.ts';

const LATCHKEY = join(import.meta.dirname, '../../../client/latchkey.ts');

function exec(folder: AgentFolder, words: string[]) {
  return spawnSync(process.execPath, [LATCHKEY, 'exec', '--state', folder.state, ...words], {
    encoding: 'utf8',
    timeout: 30_000,
    maxBuffer: 200 * 1024 * 1024,
  });
}

test('exec prints the output, exits with the command’s code, attaches when said again, and refuses another command', async () => {
  const folder = makeAgentFolder();
  await AgentProcess.start(folder);
  const words = ['--key', '1-a', '--', 'echo out; exit 7'];
  expect(exec(folder, words)).toMatchObject({
    status: 7,
    stdout: 'out\n',
    stderr: expect.stringMatching(/^started p1/),
  });
  expect(exec(folder, words)).toMatchObject({
    status: 7,
    stdout: 'out\n',
    stderr: expect.stringMatching(/^attached p1/),
  });
  const other = exec(folder, ['--key', '1-a', '--', 'echo other']);
  expect(other).toMatchObject({ status: 125, stdout: '' });
  expect(other.stderr).toMatch(/another command/);
  expect(exec(folder, ['--key', '2-words', '--', 'printf', '%s|', 'a b', "it's"]).stdout).toBe("a b|it's|");
});

test('exec tells how much of a large output is not kept, and still gives the exit', async () => {
  const folder = makeAgentFolder();
  await AgentProcess.start(folder, { env: { LATCHKEY_SEGMENT_BYTES: '65536' } });
  const words = ['--key', '1-big', '--', 'head -c 1000000 /dev/zero; exit 7'];
  const { status, stdout, stderr } = exec(folder, words);
  expect(status).toBe(7);
  // More than one gap, when the reader was overtaken more than once.
  const gaps = [...stderr.matchAll(/\[(\d+) bytes are not kept\]/g)].map(([, bytes]) => Number(bytes));
  expect(gaps.length).toBeGreaterThan(0);
  const missing = gaps.reduce((sum, bytes) => sum + bytes, 0);
  expect(stdout.length + missing).toBe(1_000_000);
  const json = exec(folder, ['--json', ...words]);
  expect(json.status).toBe(7);
  expect(JSON.parse(json.stdout)).toMatchObject({ state: 'exited', exit: { code: 7 }, totalBytes: 1_000_000 });
});

test('exec ends quietly when its reader leaves, and in a folder that is gone', async () => {
  const folder = makeAgentFolder();
  await AgentProcess.start(folder);
  const line = `'${process.execPath}' '${LATCHKEY}' exec --state '${folder.state}'`;
  const piped = spawnSync('sh', ['-c', `${line} --key 1-pipe -- 'yes | head -c 3000000' | head -1`], {
    encoding: 'utf8',
  });
  expect(piped.stdout).toBe('y\n');
  expect(piped.stderr).not.toMatch(/EPIPE|^\s+at /m);
  const gone = spawnSync(
    'sh',
    ['-c', `mkdir '${folder.root}/g'; cd '${folder.root}/g'; rmdir ../g; ${line} --key 2-x -- true`],
    {
      encoding: 'utf8',
    },
  );
  expect(gone.stderr).toMatch(/current folder does not exist/);
  expect(gone.stderr).not.toMatch(/^\s+at /m);
});

test('a command makes files with the umask that its agent was started with', async () => {
  const folder = makeAgentFolder();
  await AgentProcess.start(folder, { launcher: ['sh', '-c', 'umask 0027; exec "$@"', 'sh'] });
  expect(exec(folder, ['--key', '1-umask', '--', 'umask; touch f; stat -c %a f']).stdout).toBe('0027\n640\n');
});
