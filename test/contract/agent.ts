/** What any agent must do, whoever made it: one suite for the real agent and for a fake that other tests use. */
import { describe, expect, test } from 'vitest';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import type { AgentId, ChatId, JournalId, Nonce } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import type { AgentFolder } from '../fixtures/agent-process.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { awaitEnd, countRuns, keyed, logged, startRequest } from '../fixtures/agent-process.ts';

export interface AgentUnderTest {
  readonly client: AgentClient;
  readonly target: Target;
  readonly folder: AgentFolder;
  /** Sends a body as it is and gives status and parsed answer. */
  post(verb: string, body: string): Promise<{ status: number; answer: { error?: { code: string; field?: string } } }>;
}

export function agentContract(name: string, open: () => Promise<AgentUnderTest>): void {
  describe(`${name} as an agent`, () => {
    test('A03: starts of one key, one after another, run once and tell the same process, its start and a growing age', async () => {
      const { client, target, folder } = await open();
      const request = startRequest(target, '3-call', logged(folder, '3-call', 'sleep 0.3'));
      const first = await client.start(request);
      const second = await client.start(request);
      await awaitEnd(client, target, '3-call');
      const third = await client.start(request);
      if (first.outcome === 'absent' || second.outcome === 'absent' || third.outcome === 'absent') throw new Error();
      expect([first.outcome, second.outcome, third.outcome]).toEqual(['started', 'attached', 'attached']);
      expect([second.handle, third.handle]).toEqual([first.handle, first.handle]);
      expect([second.startedAt, third.startedAt]).toEqual([first.startedAt, first.startedAt]);
      expect(second.ageMs).toBeGreaterThanOrEqual(first.ageMs);
      expect(third.ageMs).toBeGreaterThan(second.ageMs);
      expect(third.exit?.code).toBe(0);
      expect(countRuns(folder, '3-call')).toBe(1);
    });

    test('A05, K4: the same key with another nonce, command, workdir, env or background is refused, and nothing starts', async () => {
      const { client, target, folder } = await open();
      const request = startRequest(target, '5-call', logged(folder, '5-call', 'sleep 0.5'), { env: { A: '1' } });
      const first = client.start(request);
      const others = [
        { ...request, nonce: 'another' as Nonce },
        { ...request, command: logged(folder, '5-call', 'sleep 1') },
        { ...request, workdir: '/' },
        { ...request, env: { A: '2' } },
        { ...request, env: {} },
        { ...request, background: true },
      ];
      for (const other of others) {
        // Sent while the first start is pending, and again below when it runs.
        await expect(client.start(other)).rejects.toMatchObject({ code: 'input_mismatch' });
      }
      expect(await first).toMatchObject({ outcome: 'started' });
      for (const other of others) await expect(client.start(other)).rejects.toMatchObject({ code: 'input_mismatch' });
      const sameInput = await client.start({ ...request, waitMs: 1, killAfterMs: 60_000 });
      expect(sameInput).toMatchObject({ outcome: 'attached' });
      await awaitEnd(client, target, '5-call');
      expect(countRuns(folder, '5-call')).toBe(1);
    });

    test('A05: with another nonce a key is neither told, read, killed nor fenced', async () => {
      const { client, target, folder } = await open();
      await client.start(startRequest(target, '6-call', logged(folder, '6-call', 'sleep 0.5; exit 4')));
      const stranger = { ...keyed(target, '6-call'), nonce: 'stranger' as Nonce };
      await expect(client.probe(stranger)).rejects.toMatchObject({ code: 'input_mismatch' });
      await expect(client.output(stranger)).rejects.toMatchObject({ code: 'input_mismatch' });
      await expect(client.cancel({ ...stranger, mode: 'kill' })).rejects.toMatchObject({ code: 'input_mismatch' });
      await expect(client.cancel({ ...stranger, mode: 'fence' })).rejects.toMatchObject({ code: 'input_mismatch' });
      expect((await awaitEnd(client, target, '6-call')).exit?.code).toBe(4);
    });

    test('A07: the same key in two chats is two calls, and a foreign process is unknown', async () => {
      const { client, target, folder } = await open();
      const mine = startRequest(target, '7-call', logged(folder, '7-call'));
      const theirs = { ...mine, chatId: 'chat-2' as ChatId };
      const first = await client.start(mine);
      expect(await client.start(theirs)).toMatchObject({ outcome: 'started' });
      if (first.outcome === 'absent') throw new Error();
      const foreign = { target, chatId: 'chat-3' as ChatId, handle: first.handle };
      await expect(client.output(foreign)).rejects.toMatchObject({ code: 'unknown_process' });
      await awaitEnd(client, target, '7-call');
      await waitUntil('the other one has begun too', () => countRuns(folder, '7-call') > 1);
      expect(countRuns(folder, '7-call')).toBe(2);
    });

    test('A10: bad requests get 400 with a code and the field, record nothing, and leave the key usable', async () => {
      const { client, target, folder, post } = await open();
      const good = { protocol: 1, ...startRequest(target, '10-call', logged(folder, '10-call')) };
      const without = (field: string) => Object.fromEntries(Object.entries(good).filter(([other]) => other !== field));
      const cases: [string, unknown, string][] = [
        ['an empty key', { ...good, key: '' }, 'key'],
        ['a missing key', without('key'), 'key'],
        ['a key without message id', { ...good, key: '-x' }, 'key'],
        ['an empty command', { ...good, command: '' }, 'command'],
        ['a blank command', { ...good, command: ' \n' }, 'command'],
        ['a NUL in the command', { ...good, command: 'a\0b' }, 'command'],
        ['a lone surrogate in the command', { ...good, command: 'a\ud800b' }, 'command'],
        ['a lone surrogate in the key', { ...good, key: '10-\udc00' }, 'key'],
        ['an unknown field', { ...good, surprise: 1 }, 'surprise'],
        ['an unknown version', { ...good, protocol: 2 }, 'protocol'],
        ['a missing version', without('protocol'), 'protocol'],
        ['a missing nonce', without('nonce'), 'nonce'],
        ['a command over its limit', { ...good, command: 'x'.repeat(256 * 1024 + 1) }, 'command'],
        ['an env name with =', { ...good, env: { 'A=B': 'c' } }, 'env.A=B'],
        ['a NUL in env', { ...good, env: { A: 'a\0' } }, 'env.A'],
      ];
      for (const [what, body, field] of cases) {
        const { status, answer } = await post('start', JSON.stringify(body));
        expect({ what, status, error: answer.error }).toMatchObject({
          what,
          status: 400,
          error: { code: 'bad_request', field },
        });
      }
      expect(await post('start', '{"protocol":')).toMatchObject({ status: 400, answer: { error: { field: 'body' } } });
      expect(await post('start', `"${'x'.repeat(3 * 1024 * 1024)}"`)).toMatchObject({
        status: 400,
        answer: { error: { code: 'body_too_large', field: 'body' } },
      });
      expect(await client.probe(keyed(target, '10-call'))).toMatchObject({ state: 'absent' });
      await client.start(startRequest(target, '10-call', logged(folder, '10-call')));
      await awaitEnd(client, target, '10-call');
      expect(countRuns(folder, '10-call')).toBe(1);
    });

    test('A12, K5: with another agent id or journal id nothing runs, is fenced or told', async () => {
      const { client, target, folder } = await open();
      const strangers: Target[] = [
        { ...target, agentId: 'a-other' as AgentId },
        { ...target, journalId: 'j-other' as JournalId },
      ];
      await client.start(startRequest(target, '12-ran', 'true'));
      for (const stranger of strangers) {
        const replaced = { code: 'journal_replaced' };
        const key = keyed(stranger, '12-ran');
        await expect(client.start(startRequest(stranger, '12-new', logged(folder, '12-new')))).rejects.toMatchObject(
          replaced,
        );
        await expect(client.probe(key)).rejects.toMatchObject(replaced);
        await expect(client.output(key)).rejects.toMatchObject(replaced);
        await expect(client.cancel({ ...keyed(stranger, '12-new'), mode: 'fence' })).rejects.toMatchObject(replaced);
        await expect(client.cancel({ ...keyed(stranger, '12-new'), mode: 'kill' })).rejects.toMatchObject(replaced);
        await expect(client.list({ target: stranger, chatId: key.chatId })).rejects.toMatchObject(replaced);
      }
      expect(await client.probe(keyed(target, '12-new'))).toMatchObject({ state: 'absent' });
      expect(countRuns(folder, '12-new')).toBe(0);
    });

    test('B01, K6: a cancel of an unseen key fences it, and a later start runs nothing', async () => {
      const { client, target, folder } = await open();
      for (const mode of ['kill', 'fence'] as const) {
        const key = `1-${mode}`;
        expect(await client.cancel({ ...keyed(target, key), mode })).toMatchObject({ state: 'fenced' });
        const request = startRequest(target, key, logged(folder, key));
        await expect(client.start(request)).rejects.toMatchObject({ code: 'canceled' });
        await expect(client.start(request)).rejects.toMatchObject({ code: 'canceled' });
        expect(await client.probe(keyed(target, key))).toMatchObject({ state: 'fenced' });
        expect(countRuns(folder, key)).toBe(0);
      }
    });

    test('K1: mustExist never runs an absent key, and fences it', async () => {
      const { client, target, folder } = await open();
      const request = startRequest(target, '20-call', logged(folder, '20-call'));
      expect(await client.start({ ...request, mustExist: true })).toMatchObject({ outcome: 'absent' });
      await expect(client.start(request)).rejects.toMatchObject({ code: 'canceled' });
      expect(countRuns(folder, '20-call')).toBe(0);
    });

    test('K2: a start that was dispatched to another incarnation is doubtful: it is fenced and runs nothing', async () => {
      const { client, target, folder } = await open();
      const before = { ...target, incarnation: 'earlier' as Target['incarnation'] };
      const request = startRequest(before, '21-call', logged(folder, '21-call'));
      await expect(client.start(request)).rejects.toMatchObject({ code: 'journal_doubtful' });
      await expect(client.start({ ...request, target })).rejects.toMatchObject({ code: 'canceled' });
      expect(countRuns(folder, '21-call')).toBe(0);
    });

    test('R3: a death by signal is told with the signal and never as success', async () => {
      const { client, target } = await open();
      await client.start(startRequest(target, '30-kill', 'echo before; kill -9 $$'));
      await client.start(startRequest(target, '31-term', 'echo before; kill -TERM $$'));
      await client.start(startRequest(target, '32-ours', 'echo before; sleep 30'));
      const killed = await awaitEnd(client, target, '30-kill');
      const terminated = await awaitEnd(client, target, '31-term');
      expect(killed).toMatchObject({ exit: { code: 137, signal: 'SIGKILL' }, text: 'before\n' });
      expect(terminated).toMatchObject({ exit: { code: 143, signal: 'SIGTERM' }, text: 'before\n' });
      expect(killed.exit?.killedBy ?? terminated.exit?.killedBy).toBeUndefined();
      await client.output({ ...keyed(target, '32-ours'), from: 0, waitMs: 10_000 });
      const canceled = await client.cancel({ ...keyed(target, '32-ours'), mode: 'kill' });
      expect(canceled).toMatchObject({ state: 'exited', exit: { code: 143, killedBy: 'cancel' }, survivors: [] });
      expect((await awaitEnd(client, target, '32-ours')).text).toBe('before\n');
    });

    test('R17: heredocs and quotes arrive as they are written', async () => {
      const { client, target } = await open();
      const body = 'it\'s "q" $(x) $HOME \\ end';
      const commands: [string, string][] = [
        [`cat > f <<'EOF'\n${body}\nEOF`, ''],
        ['cat f', `${body}\n`],
        [`cat <<'EOF' | wc -l\n${body}\n${body}\nEOF`, '2\n'],
        ["cat <<'A'; cat <<'B'\none\nA\ntwo\nB", 'one\ntwo\n'],
        ['echo alive', 'alive\n'],
      ];
      for (const [index, [command, expected]] of commands.entries()) {
        const key = `${40 + index}-r17`;
        await client.start(startRequest(target, key, command));
        expect(await awaitEnd(client, target, key)).toMatchObject({ exit: { code: 0 }, text: expected });
      }
    });

    test('C05: a write to /dev/stderr or /dev/stdout erases nothing, and both streams keep their order', async () => {
      const { client, target } = await open();
      const command = 'echo one; echo two > /dev/stderr; echo three > /dev/stdout; echo four >&2; echo five';
      await client.start(startRequest(target, '50-call', command));
      expect((await awaitEnd(client, target, '50-call')).text).toBe('one\ntwo\nthree\nfour\nfive\n');
    });

    test('C06: a background child that holds the output does not hold the call, and its later bytes stay readable', async () => {
      const { client, target } = await open();
      const began = performance.now();
      await client.start(startRequest(target, '60-call', '(sleep 3; echo late) & echo early'));
      const first = await awaitEnd(client, target, '60-call');
      const tookMs = performance.now() - began;
      expect(first).toMatchObject({ exit: { code: 0 }, outputOpen: true, text: 'early\n' });
      expect(tookMs).toBeLessThan(2500);
      const later = await client.output({ ...keyed(target, '60-call'), from: first.total, waitMs: 0 });
      expect(later.bytes?.next).toBe(first.total);
      const last = await waitUntil('the output is closed', async () => {
        const answer = await client.output({ ...keyed(target, '60-call'), from: first.total });
        return answer.outputOpen ? undefined : answer;
      });
      expect(Buffer.from(last.bytes?.base64 ?? '', 'base64').toString()).toBe('late\n');
    });
  });
}
