import { describe, expect, onTestFinished, test } from 'vitest';
import { createAgentClient } from '../../../agent-client/agent-client.ts';
import { parseAgentAddress } from '../../../agent-client/agent-address.ts';
import { AgentError, AgentUnreachable } from '../../../agent-client/agent-errors.ts';
import type { JournalId } from '../../../contract/ids.ts';
import { SCRIPTED_TARGET, startScriptedAgent } from '../../fakes/scripted-agent.ts';
import type { Reply } from '../../fakes/scripted-agent.ts';
import { executeInput } from './execute-call.ts';

const { chatId, key, nonce } = executeInput();
const PROBE = { target: SCRIPTED_TARGET, chatId, key, nonce };

async function clientOf(reply: Reply, answerMarginMs = 5000) {
  const agent = await startScriptedAgent(() => reply);
  const client = createAgentClient({ address: agent.address, answerMarginMs });
  onTestFinished(async () => {
    await client.close();
    await agent.close();
  });
  return { agent, client };
}

describe("the agent's client", () => {
  test('sends the verb and the protocol version, and gives the answer with whose word it is', async () => {
    const { agent, client } = await clientOf({ answer: { state: 'absent' } });
    expect(await client.probe(PROBE)).toEqual({ protocol: 1, ...SCRIPTED_TARGET, state: 'absent' });
    expect(agent.requests).toEqual([{ verb: 'probe', body: { protocol: 1, ...PROBE } }]);
  });

  test.each<[string, Reply]>([
    ['an unknown field', { answer: { state: 'absent', news: 1 } }],
    ['another protocol version', { answer: { protocol: 2, state: 'absent' } }],
    ['an unknown state', { answer: { state: 'sleeping' } }],
    ['an unknown failure code', { raw: '{"protocol":1,"error":{"code":"odd","message":"x"}}', status: 409 }],
    ["a proxy's page", { raw: '<html>502</html>', status: 502 }],
    ['an answer with the status of an error', { raw: '{}', status: 500 }],
    ['a cut connection', 'cut'],
  ])('A13, K5: %s is no word of the agent', async (_, reply) => {
    const { agent, client } = await clientOf(reply);
    await expect(client.probe(PROBE)).rejects.toBeInstanceOf(AgentUnreachable);
    expect(agent.requests).toHaveLength(1);
  });

  test('a structured refusal carries its code and whose word it is', async () => {
    const { client } = await clientOf({ refuse: 'input_mismatch', message: 'another nonce' });
    const error = await client.probe(PROBE).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ code: 'input_mismatch', message: 'another nonce', answeredBy: SCRIPTED_TARGET });
  });

  test('an answer of another journal than the one that was asked is refused (part of A12)', async () => {
    const by = { ...SCRIPTED_TARGET, journalId: 'journal-2' as JournalId };
    const { client } = await clientOf({ answer: { state: 'absent' }, by });
    await expect(client.probe(PROBE)).rejects.toMatchObject({ code: 'journal_replaced', answeredBy: by });
  });

  test('a wait that was asked for is waited for, with a margin, and then the try has failed', async () => {
    const { client } = await clientOf('hang', 100);
    await expect(client.start({ ...PROBE, command: 'true', background: false, waitMs: 50 })).rejects.toThrow(
      /no answer within 150 ms/,
    );
  });

  test('a missing socket is named together with the address', async () => {
    const client = createAgentClient({ address: 'unix:/nowhere/agent.sock' });
    onTestFinished(() => client.close());
    await expect(client.info({})).rejects.toThrow('agent at unix:/nowhere/agent.sock: there is no such socket');
  });

  test("a caller's signal ends the request with its own reason", async () => {
    const { agent, client } = await clientOf('hang');
    const reason = new Error('let go');
    const caller = new AbortController();
    const probing = client.probe(PROBE, { signal: caller.signal }).catch((error: unknown) => error);
    await expect.poll(() => agent.requests.length).toBe(1);
    caller.abort(reason);
    expect(await probing).toBe(reason);
    await agent.abandoned;
  });

  test.each(['agent.sock', 'unix:relative', 'ftp://host', 'http://host/path', 'http://user@host', ''])(
    'the address %j is refused with what one looks like',
    (address) => {
      expect(() => parseAgentAddress(address)).toThrow(/unix:\/absolute\/path or http:\/\/host:port/);
    },
  );
});
