import { expect, test } from 'vitest';
import type { SignalName } from '../../../contract/signals.ts';
import { AgentProcess, awaitEnd, keyed, makeAgentFolder, startRequest } from '../../fixtures/agent-process.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

async function running(command: string, key = '1-call') {
  const folder = makeAgentFolder();
  const agent = await AgentProcess.start(folder);
  const target = await agent.target();
  const started = await agent.client.start(startRequest(target, key, command));
  if (started.outcome === 'absent') throw new Error();
  const { chatId } = keyed(target, key);
  const send = (signal: SignalName, id: string) =>
    agent.client.signal({ target, chatId, handle: started.handle, id, signal, waitMs: 5000 });
  const printed = (text: string) =>
    waitUntil(`"${text}" is printed`, async () => {
      const answer = await agent.client.output({ ...keyed(target, key), from: 0 });
      return Buffer.from(answer.bytes?.base64 ?? '', 'base64')
        .toString()
        .includes(text);
    });
  return { folder, agent, target, send, printed, handle: started.handle, chatId };
}

const COUNTING = 'trap "echo got usr1" USR1; echo up; for i in 1 2 3 4 5 6; do sleep 0.5 & wait $!; done; sleep 0.2';

test('I07: a signal is sent once per id, also when it is asked for again', async () => {
  const { agent, target, send, printed } = await running(COUNTING);
  await printed('up');
  expect(await send('SIGUSR1', 'a')).toMatchObject({ outcome: 'sent', state: 'running' });
  expect(await send('SIGUSR1', 'a')).toMatchObject({ outcome: 'repeated' });
  await printed('got usr1');
  expect(await send('SIGUSR1', 'b')).toMatchObject({ outcome: 'sent' });
  await expect(send('SIGTERM', 'b')).rejects.toMatchObject({ code: 'input_mismatch', field: 'id' });
  const { text } = await awaitEnd(agent.client, target, '1-call');
  expect(text.match(/got usr1/g)).toHaveLength(2);
});

test('I07: an id that was recorded before the agent died is in doubt afterwards, and is not sent again', async () => {
  const { folder, agent, send, printed } = await running(COUNTING);
  await printed('up');
  expect(await send('SIGUSR1', 'a')).toMatchObject({ outcome: 'sent' });
  await agent.kill();
  const next = await AgentProcess.start(folder);
  const target = await next.target();
  const again = { target, chatId: keyed(target, '1-call').chatId, handle: 'p1' as never, signal: 'SIGUSR1' as const };
  expect(await next.client.signal({ ...again, id: 'a' })).toMatchObject({ outcome: 'repeated' });
  const { text } = await awaitEnd(next.client, target, '1-call');
  expect(text.match(/got usr1/g)).toHaveLength(1);
});

test('B08: a signal to an ended process says so, and an unknown signal is refused by name', async () => {
  const { agent, target, send } = await running('exit 5');
  await awaitEnd(agent.client, target, '1-call');
  expect(await send('SIGTERM', 'late')).toMatchObject({ outcome: 'ended', state: 'exited', exit: { code: 5 } });
  expect(await send('SIGTERM', 'late')).toMatchObject({ outcome: 'ended' });
  const unknown = send('SIGNONSENSE' as SignalName, 'x');
  await expect(unknown).rejects.toMatchObject({ code: 'bad_request', field: 'signal' });
  await expect(unknown).rejects.toThrow(/SIGTERM/);
});

test('a signal that ends the command shows in its exit, and survivors are named', async () => {
  const { agent, target, send, printed } = await running('echo up; sleep 30');
  await printed('up');
  expect(await send('SIGINT', 'stop')).toMatchObject({ outcome: 'sent', survivors: [] });
  const end = await awaitEnd(agent.client, target, '1-call');
  expect(end.exit).toMatchObject({ code: 130, signal: 'SIGINT', killedBy: 'signal' });

  const stubborn = await running("trap '' TERM; echo up; while :; do sleep 0.2; done", '2-call');
  await stubborn.printed('up');
  const answer = await stubborn.send('SIGTERM', 'polite');
  expect(answer).toMatchObject({ outcome: 'sent', state: 'running' });
  expect(answer.survivors.length).toBeGreaterThan(0);
  expect(await stubborn.send('SIGKILL', 'firm')).toMatchObject({ outcome: 'sent', survivors: [] });
  const killed = await awaitEnd(stubborn.agent.client, stubborn.target, '2-call');
  expect(killed.exit).toMatchObject({ code: 137, signal: 'SIGKILL', killedBy: 'signal' });

  const polite = await running("trap 'echo cleaned; exit 5' TERM; echo up; while :; do sleep 0.2; done", '3-call');
  await polite.printed('up');
  await polite.send('SIGKILL', 'at once');
  // No TERM goes before a KILL that was asked for by name: no trap runs.
  expect(await awaitEnd(polite.agent.client, polite.target, '3-call')).toMatchObject({
    exit: { code: 137 },
    text: 'up\n',
  });
});

test('A07: a process of another chat can not be signalled: it is unknown', async () => {
  const { agent, target, handle } = await running('sleep 1');
  const foreign = { target, chatId: 'chat-9' as never, handle, id: 'x', signal: 'SIGTERM' as const };
  await expect(agent.client.signal(foreign)).rejects.toMatchObject({ code: 'unknown_process' });
});

test('K6: a sending that is fenced before it comes sends nothing, also after a restart; one that was sent is told', async () => {
  const { folder, agent, target, send, printed } = await running(COUNTING);
  await printed('up');
  const fence = (id: string) => agent.client.cancel({ ...keyed(target, id), mode: 'fence' });
  expect(await send('SIGUSR1', '2-signal.a')).toMatchObject({ outcome: 'sent' });
  expect(await fence('2-signal.a')).toMatchObject({ state: 'fenced' });
  expect(await send('SIGUSR1', '2-signal.a')).toMatchObject({ outcome: 'repeated' });
  expect(await fence('2-signal.b')).toMatchObject({ state: 'fenced' });
  await expect(send('SIGUSR1', '2-signal.b')).rejects.toMatchObject({ code: 'canceled', field: 'id' });
  await agent.kill();
  const next = await AgentProcess.start(folder);
  const { chatId } = keyed(target, '1-call');
  const again = { target: await next.target(), chatId, handle: 'p1' as never, signal: 'SIGUSR1' as const };
  await expect(next.client.signal({ ...again, id: '2-signal.b' })).rejects.toMatchObject({ code: 'canceled' });
  const { text } = await awaitEnd(next.client, again.target, '1-call');
  expect(text.match(/got usr1/g)).toHaveLength(1);
});
