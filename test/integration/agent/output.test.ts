/** What becomes of a command's output, over the wire. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentClient } from '../../../agent-client/agent-client.ts';
import type { Target } from '../../../contract/target.ts';
import { AgentProcess, awaitEnd, keyed, makeAgentFolder, startRequest } from '../../fixtures/agent-process.ts';

const IS_LONG = process.env['LATCHKEY_LONG'] !== undefined;
const MIB = 1024 * 1024;

async function open(env: Record<string, string> = {}) {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder, { env });
  return { folder, agent, client: agent.client, target: await agent.target() };
}

/** Reads a whole output by offset. */
async function readAll(client: AgentClient, target: Target, key: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; ;) {
    const { bytes, total } = await client.output({ ...keyed(target, key), from });
    if (bytes === undefined) throw new Error('no bytes');
    parts.push(Buffer.from(bytes.base64, 'base64'));
    from = bytes.next;
    if (from >= total) return Buffer.concat(parts);
  }
}

test('C02: split multibyte characters come through byte for byte, in snapshots too', async () => {
  const { client, target } = await open();
  const commands: [string, string][] = [
    [`python3 -c "import os,time; os.write(1,b'x \\xe2'); time.sleep(.2); os.write(1,b'\\x80\\x94 y')"`, 'x — y'],
    [`python3 -c "import sys; sys.stdout.write('界'*66667)"`, '界'.repeat(66_667)],
    ...[0, 1, 2, 3].map((shift): [string, string] => [
      `python3 -c "import sys; sys.stdout.write('a'*${shift} + '🙂'*500000)"`,
      'a'.repeat(shift) + '🙂'.repeat(500_000),
    ]),
  ];
  for (const [index, [command, expected]] of commands.entries()) {
    const key = `${index + 1}-utf8`;
    await client.start(startRequest(target, key, command));
    await awaitEnd(client, target, key);
    expect((await readAll(client, target, key)).toString() === expected, key).toBe(true);
  }
});

test('C03: invalid bytes, NUL, UTF-16 and binary are stored and readable byte for byte by offset', async () => {
  const { client, target } = await open();
  const commands: [string, Buffer][] = [
    [`printf 'A\\355\\240\\200B\\377C'`, Buffer.from([0x41, 0xed, 0xa0, 0x80, 0x42, 0xff, 0x43])],
    [`printf 'a\\0b'`, Buffer.from('a\0b')],
    [`printf 'hi' | iconv -t UTF-16LE`, Buffer.from('hi', 'utf16le')],
    [`head -c 4096 /bin/ls`, readFileSync('/bin/ls').subarray(0, 4096)],
  ];
  for (const [index, [command, expected]] of commands.entries()) {
    const key = `${index + 1}-bytes`;
    await client.start(startRequest(target, key, command));
    await awaitEnd(client, target, key);
    expect((await readAll(client, target, key)).equals(expected), command).toBe(true);
  }
});

describe('R12: 100 MB exit 0 with the exact total, with bounded memory of the agent and a bounded disk', () => {
  test('C04: 100 MB exit 0 with the exact total, with bounded memory of the agent and a bounded disk', async () => {
    const { client, target, agent, folder } = await open();
    const residentMib = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${agent.child.pid}/status`, 'utf8'))?.[1]) / 1024;
    await client.start(startRequest(target, '1-warm', 'echo warm'));
    await awaitEnd(client, target, '1-warm');
    const before = residentMib();
    await client.start(startRequest(target, '4-big', 'yes 0123456789 | head -c 100000000'));
    let highest = 0;
    for (;;) {
      const answer = await client.output({
        ...keyed(target, '4-big'),
        view: { headBytes: 16_384, tailBytes: 16_384 },
        waitMs: 200,
      });
      highest = Math.max(highest, residentMib());
      if (answer.state !== 'exited') continue;
      expect(answer).toMatchObject({ total: 100_000_000, exit: { code: 0 }, outputOpen: false });
      expect(answer.view?.omitted).toBe(100_000_000 - 2 * 16_384);
      const [dropped] = answer.dropped;
      await expect(client.output({ ...keyed(target, '4-big'), from: (dropped?.[0] ?? 0) + 5 })).rejects.toThrow(
        /not kept/,
      );
      break;
    }
    expect(highest - before).toBeLessThan(50);
    const commands = join(folder.state, 'commands', '2.1');
    const diskBytes = readdirSync(commands).reduce((sum, name) => sum + statSync(join(commands, name)).size, 0);
    expect(diskBytes).toBeLessThan(26 * MIB);

    for (const [key, end] of [
      ['5-line', ''],
      ['6-line', '; echo'],
    ] as const) {
      await client.start(startRequest(target, key, `head -c 1000000 /dev/zero | tr '\\0' x${end}`));
      expect((await awaitEnd(client, target, key)).total).toBe(end === '' ? 1_000_000 : 1_000_001);
    }
  });
});

test('C07: output printed just before the exit is complete, many short commands side by side', async () => {
  const { client, target } = await open();
  const count = IS_LONG ? 500 : 120;
  const sideBySide = 20;
  let next = 1;
  const worker = async (): Promise<void> => {
    for (let number = next++; number <= count; number = next++) {
      const key = `${number}-short`;
      await client.start(startRequest(target, key, `echo begin-${number}; echo end-${number}`, { waitMs: 30_000 }));
      const end = await awaitEnd(client, target, key);
      expect(end).toMatchObject({ exit: { code: 0 }, outputOpen: false, text: `begin-${number}\nend-${number}\n` });
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, worker));
});

test('C07: 2 MiB and then the exit, round after round: every byte is there', async () => {
  const { client, target } = await open();
  const rounds = IS_LONG ? 100 : 15;
  const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const expected = digest(Buffer.from('0123456789abcde\n'.repeat((2 * MIB) / 16)));
  for (let round = 1; round <= rounds; round++) {
    const key = `${round}-burst`;
    await client.start(startRequest(target, key, `yes 0123456789abcde | head -c ${2 * MIB}`));
    expect((await awaitEnd(client, target, key)).total).toBe(2 * MIB);
    expect(digest(await readAll(client, target, key))).toBe(expected);
  }
});

test('C08: concurrent readers by offset neither repeat nor skip, and a dropped offset is named', async () => {
  const { client, target } = await open({ LATCHKEY_SEGMENT_BYTES: '65536' });
  await client.start(startRequest(target, '8-lines', 'for i in $(seq 1 20000); do echo "line $i"; done'));
  const follow = async (): Promise<string> => {
    let text = '';
    for (let from = 0; ;) {
      const answer = await client
        .output({ ...keyed(target, '8-lines'), from, bytesMax: 1000, waitMs: 1000 })
        .catch(String);
      if (typeof answer === 'string') return `${text} ${answer}`;
      text += Buffer.from(answer.bytes?.base64 ?? '', 'base64').toString();
      from = answer.bytes?.next ?? from;
      if (!answer.outputOpen && from >= answer.total) return text;
    }
  };
  const whole = Array.from({ length: 20_000 }, (_, index) => `line ${index + 1}\n`).join('');
  for (const text of await Promise.all([follow(), follow(), follow()])) {
    // A reader that fell behind the rotating tail is told so, and until then it has missed nothing.
    const [read = '', refusal] = text.split(/ (?=AgentError)/);
    expect(whole.startsWith(read)).toBe(true);
    if (refusal === undefined) expect(read).toBe(whole);
    else expect(refusal).toMatch(/not kept any more|dropped/);
  }
});

test('C09: stdout and stderr keep the order in which they were written', async () => {
  const { client, target } = await open();
  const command = 'for i in $(seq 1 200); do echo "out $i"; echo "err $i" >&2; done';
  await client.start(startRequest(target, '9-order', command));
  const expected = Array.from({ length: 200 }, (_, index) => `out ${index + 1}\nerr ${index + 1}\n`).join('');
  expect((await awaitEnd(client, target, '9-order')).text).toBe(expected);
});

test('R16: nothing waits for input that never comes', async () => {
  const { client, target } = await open();
  const commands = [
    `read -p 'Proceed? ' a; echo "rc=$? a=$a"`,
    'cat; echo done',
    'grep foo; echo "rc=$?"',
    `python3 -c "open('/dev/tty').read()"; echo "rc=$?"`,
    'git init -q . && git -c user.name=a -c user.email=a@b.invalid commit --allow-empty; echo "rc=$?"',
  ];
  const began = performance.now();
  for (const [index, command] of commands.entries()) {
    await client.start(startRequest(target, `${index + 1}-input`, command));
    await awaitEnd(client, target, `${index + 1}-input`);
  }
  expect(performance.now() - began).toBeLessThan(15_000);
  expect((await awaitEnd(client, target, '1-input')).text).toBe('rc=1 a=\n');
  expect((await awaitEnd(client, target, '2-input')).text).toBe('done\n');
});

test('R20: secrets of the agent stay out of commands, locale and path are set', async () => {
  const { client, target } = await open({
    CANARY_TOKEN: 'canary1',
    LANG: '',
    NODE_OPTIONS: '--max-old-space-size=200',
  });
  const run = async (key: string, command: string): Promise<string> => {
    await client.start(startRequest(target, key, command));
    return (await awaitEnd(client, target, key)).text;
  };
  const environment = await run('1-env', "env; tr '\\0' '\\n' < /proc/$PPID/environ");
  expect(environment).not.toMatch(/canary1|NODE_OPTIONS/);
  expect(environment).toMatch(/^PATH=\S+/m);
  expect(environment).toMatch(/^HOME=\S+/m);
  expect(environment).toMatch(/^TERM=/m);
  expect(environment).toMatch(/^LANG=.*UTF-8/im);
  expect(await run('2-python', `python3 -c "print('你好')"`)).toBe('你好\n');
  expect(await run('3-echo', `echo 'ABC你好DEF'; touch '中文'; ls`)).toBe('ABC你好DEF\n中文\n');
});
