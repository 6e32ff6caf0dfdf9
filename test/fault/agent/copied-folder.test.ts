/** The danger: the state folder is copied, restored, wiped or shared. A key that ran before never runs again. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { AgentFolder } from '../../fixtures/agent-process.ts';
import {
  AgentProcess,
  awaitEnd,
  countRuns,
  keyed,
  logged,
  makeAgentFolder,
  startRequest,
} from '../../fixtures/agent-process.ts';

const MAIN = new URL('../../../agent/main.ts', import.meta.url).pathname;

async function ranOnce(folder: AgentFolder) {
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const request = startRequest(target, '1-call', logged(folder, '1-call'));
  await agent.client.start(request);
  await awaitEnd(agent.client, target, '1-call');
  await agent.kill('SIGTERM');
  return { target, request };
}

function adopt(folder: AgentFolder): string {
  return execFileSync(process.execPath, [MAIN, 'adopt', '--state', folder.state], {
    encoding: 'utf8',
    env: { ...process.env, XDG_RUNTIME_DIR: folder.runtime },
  });
}

describe('L15: a folder restored by cp -a', () => {
  test('I01: is refused until it is adopted, and then a key that ran never runs again', async () => {
    const folder = makeAgentFolder();
    const { target, request } = await ranOnce(folder);
    renameSync(folder.state, `${folder.state}.original`);
    execFileSync('cp', ['-a', `${folder.state}.original`, folder.state]);

    const refused = AgentProcess.spawn(folder);
    await refused.ended();
    expect(refused.child.exitCode).toBe(1);
    expect(refused.log).toContain('latchkey agent adopt');
    expect(refused.log).not.toContain('    at ');

    expect(adopt(folder)).toContain('adopted as a-');
    const agent = await AgentProcess.start(folder);
    const fresh = await agent.target();
    expect(fresh.agentId).not.toBe(target.agentId);
    await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'journal_replaced' });
    expect(await agent.client.start({ ...request, target: fresh })).toMatchObject({
      outcome: 'attached',
      state: 'exited',
    });
    expect(countRuns(folder, '1-call')).toBe(1);
  });
});

test('I01: a folder renamed and renamed back starts as it was', async () => {
  const folder = makeAgentFolder();
  const { target, request } = await ranOnce(folder);
  renameSync(folder.state, `${folder.state}.aside`);
  renameSync(`${folder.state}.aside`, folder.state);
  const agent = await AgentProcess.start(folder);
  expect((await agent.target()).journalId).toBe(target.journalId);
  expect(await agent.client.start(request)).toMatchObject({ outcome: 'attached' });
  expect(countRuns(folder, '1-call')).toBe(1);
});

test('D05: a wiped folder is another agent with another journal, and refuses what was dispatched to the old one', async () => {
  const folder = makeAgentFolder();
  const { target, request } = await ranOnce(folder);
  rmSync(folder.state, { recursive: true });
  const agent = await AgentProcess.start(folder);
  const fresh = await agent.target();
  expect(fresh.agentId).not.toBe(target.agentId);
  expect(fresh.journalId).not.toBe(target.journalId);
  await expect(agent.client.start(request)).rejects.toMatchObject({ code: 'journal_replaced' });
  expect(countRuns(folder, '1-call')).toBe(1);
});

describe('L16: a journal overwritten in place in one boot', () => {
  test('I01: is noticed by the sequence witness; nothing runs twice', async () => {
    const folder = makeAgentFolder();
    const first = await AgentProcess.start(folder);
    const target = await first.target();
    await first.kill('SIGTERM');
    cpSync(`${folder.state}/journal.db`, `${folder.root}/backup.db`);

    const second = await AgentProcess.start(folder);
    const request = startRequest(target, '16-call', logged(folder, '16-call'));
    await second.client.start(request);
    await awaitEnd(second.client, target, '16-call');
    await second.kill('SIGTERM');
    for (const name of ['journal.db', 'journal.db-wal', 'journal.db-shm']) {
      if (existsSync(`${folder.state}/${name}`)) rmSync(`${folder.state}/${name}`);
    }
    execFileSync('cp', [`${folder.root}/backup.db`, `${folder.state}/journal.db`]);

    const third = await AgentProcess.start(folder);
    expect((await third.target()).journalId).not.toBe(target.journalId);
    await expect(third.client.start(request)).rejects.toMatchObject({ code: 'journal_replaced' });
    expect(countRuns(folder, '16-call')).toBe(1);
  });
});

test('I01: a rollback under a running agent is noticed by the sequence that its caller has seen', async () => {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const ahead = { ...target, sequence: target.sequence + 1 };
  await expect(agent.client.probe(keyed(ahead, '1-call'))).rejects.toMatchObject({ code: 'journal_replaced' });
  expect((await agent.target()).journalId).not.toBe(target.journalId);
  await expect(agent.client.start(startRequest(target, '1-call', 'true'))).rejects.toMatchObject({
    code: 'journal_replaced',
  });
});

test('A14: another agent on the same state folder refuses to start, and says why', async () => {
  const folder = makeAgentFolder();
  await AgentProcess.start(folder);
  const second = AgentProcess.spawn(folder);
  await second.ended();
  expect(second.child.exitCode).toBe(1);
  expect(second.log).toContain('another agent uses the state folder');
});

for (const how of ['in another folder than before', 'in a folder that was emptied'] as const) {
  test(`I01, K1: a journal restored in place is noticed also when its witness is looked for ${how}`, async () => {
    const folder = makeAgentFolder();
    const first = await AgentProcess.start(folder);
    await first.kill('SIGTERM');
    execFileSync('cp', ['-a', folder.state, `${folder.root}/backup`]);
    const second = await AgentProcess.start(folder);
    const target = await second.target();
    const request = startRequest(target, '3-call', logged(folder, '3-call'));
    await second.client.start(request);
    await awaitEnd(second.client, target, '3-call');
    await second.kill('SIGTERM');
    execFileSync('cp', ['-a', `${folder.root}/backup/.`, folder.state]);

    const runtime = how === 'in another folder than before' ? `${folder.root}/elsewhere` : folder.runtime;
    if (runtime === folder.runtime) rmSync(runtime, { recursive: true });
    mkdirSync(runtime);
    const third = await AgentProcess.start({ ...folder, runtime });
    expect((await third.target()).journalId).not.toBe(target.journalId);
    await expect(third.client.start(request)).rejects.toMatchObject({ code: 'journal_replaced' });
    expect(countRuns(folder, '3-call')).toBe(1);
  });
}

test('I01: an agent that comes back to its witness after a plain restart keeps its journal', async () => {
  const folder = makeAgentFolder();
  const journals = new Set<string>();
  for (let round = 0; round < 3; round++) {
    const agent = await AgentProcess.start(folder);
    journals.add((await agent.target()).journalId);
    await agent.kill(round === 1 ? 'SIGKILL' : 'SIGTERM');
  }
  expect(journals.size).toBe(1);
});
