import { createConnection } from 'node:net';
import { describe, expect, test } from 'vitest';
import { countRuns, logged } from '../../fixtures/agent-process.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { TurnOperations } from '../../fixtures/turn-operations.ts';
import { commands, DONE, Whole } from '../../fixtures/whole-turn.ts';

function isPortTaken(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

describe('G04: a stopped command is gone with its port, each call has its one result, and the next turn is accepted from another client', () => {
  describe('R4: a stopped command is gone with its port, each call has its one result, and the next turn is accepted from another client', () => {
    describe('R5: a stopped command is gone with its port, each call has its one result, and the next turn is accepted from another client', () => {
      test('G01: a stopped command is gone with its port, each call has its one result, and the next turn is accepted from another client', async () => {
        const whole = await Whole.open();
        const { chatId } = whole;
        const port = await freePort();
        const server = `'${process.execPath}' -e 'require("http").createServer().listen(${port}, "127.0.0.1", () => console.log("listening"))'`;
        const steps = [
          commands({
            done: logged(whole.folder, 'done', 'echo ready'),
            server: logged(whole.folder, 'server', `sh -c "exec ${server.replaceAll('"', '\\"')}"`),
            behind: { command: logged(whole.folder, 'behind', 'sleep 300'), background: true },
          }),
          DONE,
        ];
        const first = await whole.startTurn(steps);
        const { key } = await first.running('server', 'listening').then(() => first.call('server'));
        await first.until('the others have their results', async () => {
          const [done, , behind] = await first.calls();
          return done?.status === 'exited' && behind?.status === 'detached';
        });
        expect(await isPortTaken(port)).toBe(true);

        const operations = await TurnOperations.open({ chatId, turn: first.turn });
        await operations.interrupt();
        expect(await first.result()).toMatchObject({ state: 'interrupted', calls: 3 });
        expect(await isPortTaken(port)).toBe(false);
        expect((await first.calls()).map(({ status, result }) => [status, result !== undefined])).toEqual([
          ['exited', true],
          ['canceled', true],
          ['detached', true],
        ]);
        expect((await first.call('server')).result?.text).toContain('listening');
        const behind = await first.call('behind');
        expect(behind.result?.text).toContain(behind.handle);
        const processes = await whole.agent.client.list({ target: await whole.agent.target(), chatId, onlyOpen: true });
        expect(processes.processes.map(({ handle }) => handle)).toEqual([behind.handle]);

        // The scripted model refuses a history in which a call lacks exactly one result.
        const second = await whole.startTurn([commands({ server: logged(whole.folder, 'server', server) }), DONE]);
        await second.running('server', 'listening');
        expect((await second.call('server')).key).not.toBe(key);
        await (await TurnOperations.open({ chatId, turn: second.turn })).interrupt();
        await second.result();
        expect([countRuns(whole.folder, 'server'), countRuns(whole.folder, 'behind')]).toEqual([2, 1]);
      });
    });
  });
});

describe('R5: a stop between the reply and the first start leaves each call its one result, and the next turn is accepted', () => {
  test("G02: a stop between the model's reply and the first start cancels its calls; starts that were on their way run nothing", async () => {
    const whole = await Whole.open();
    const { chatId, proxy, folder } = whole;
    const onTheirWay = Promise.withResolvers<void>();
    proxy.onRequest = ({ verb }) => (verb === 'start' ? onTheirWay.promise : undefined);
    const ids = ['a', 'b', 'c'];
    const asked = commands(Object.fromEntries(ids.map((id) => [id, logged(folder, id)])));
    const first = await whole.startTurn([asked, DONE], { timings: { interruptGraceMs: 1500 } });
    await first.until('all starts are on their way', () => proxy.of('start').length === ids.length);
    await (await TurnOperations.open({ chatId, turn: first.turn })).interrupt();
    expect((await first.result()).state).toBe('interrupted');
    const ends = async () => (await first.calls()).map(({ status, evidence }) => `${status} by ${evidence?.code}`);
    expect(await ends()).toEqual(ids.map(() => 'canceled by fenced'));
    // Each arrives in the end, though nobody waits for its answer any more.
    onTheirWay.resolve();
    for (const { body } of proxy.of('start')) {
      await expect(whole.agent.client.start(body as never)).rejects.toMatchObject({ code: 'canceled' });
    }
    // The scripted model refuses a history in which a call lacks exactly one result.
    expect((await (await whole.startTurn([DONE])).result()).state).toBe('completed');
    expect(await ends()).toEqual(ids.map(() => 'canceled by fenced'));
    expect(ids.map((id) => countRuns(folder, id))).toEqual([0, 0, 0]);
  });
});

describe('R24: a silent command many heartbeat time-outs long has one attempt, also while its agent is slow, and an interrupt ends it within 5 s', () => {
  test('E08: a silent command many heartbeat time-outs long has one attempt, also while its agent is slow, and an interrupt ends it within 5 s', async () => {
    const whole = await Whole.open();
    const turn = await whole.startTurn([commands({ silent: logged(whole.folder, 'silent', 'sleep 300') }), DONE], {
      timings: { heartbeatTimeoutMs: 1500 },
    });
    const running = await turn.running('silent');
    whole.agent.child.kill('SIGSTOP');
    await turn.until('three heartbeat time-outs have passed', () => Date.now() - running.scheduledMs > 3 * 1500);
    whole.agent.child.kill('SIGCONT');
    await turn.until('six heartbeat time-outs have passed', () => Date.now() - running.scheduledMs > 6 * 1500);
    expect((await turn.running('silent')).attempt).toBe(1);
    const operations = await TurnOperations.open({ chatId: whole.chatId, turn: turn.turn });
    const askedAtMs = performance.now();
    await operations.interrupt();
    expect((await turn.result()).state).toBe('interrupted');
    expect(performance.now() - askedAtMs).toBeLessThan(5000);
    expect(await turn.call('silent')).toMatchObject({ status: 'canceled', evidence: { code: 'killed' } });
    // The value of a completed activity, not a failed or cancelled one.
    expect(await turn.execution('silent')).toMatchObject({ attempt: 1, end: 'completed' });
    expect(countRuns(whole.folder, 'silent')).toBe(1);
  });
});

test('what the model had written when it was interrupted stays, and the next turn goes on from there', async () => {
  const whole = await Whole.open();
  const text = Array.from({ length: 60 }, (_, index) => `sentence ${index}. `).join('');
  const turn = await whole.startTurn([{ text }, DONE], { delayMs: 200 });
  const { store, chatId } = whole;
  await turn.until('some text is shown', async () =>
    (await store.readEvents({ chatId, after: 0, limit: 1000 })).some(({ type }) => type === 'part'),
  );
  await (await TurnOperations.open({ chatId, turn: turn.turn })).interrupt();
  expect((await turn.result()).state).toBe('interrupted');
  const kept = (await store.loadConversation(chatId)).at(-1);
  expect(kept).toMatchObject({ role: 'assistant' });
  expect(kept?.text).not.toBe('');
  expect(text.startsWith(kept?.text ?? '-')).toBe(true);
  expect((await (await whole.startTurn([DONE])).result()).state).toBe('completed');
});
