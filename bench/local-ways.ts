/** What needs no Temporal: a command by the agent, and a command by nobody. */
import { randomUUID } from 'node:crypto';
import { buildExecutionKey } from '../contract/execution-key.ts';
import { callNonce, parseChatId } from '../contract/ids.ts';
import type { MessageId, ToolCallId } from '../contract/ids.ts';
import { PRESENTED_HEAD_BYTES, PRESENTED_TAIL_BYTES } from '../contract/limits.ts';
import type { Stage } from './stage.ts';

const WAIT_MS = 30_000;

type AgentPlace = Pick<Stage, 'agentClient' | 'target'>;

/** `start`, then `output` until the exit: what an execute worker asks of the agent for each call. */
export async function startToExit(at: AgentPlace, count: number): Promise<number[]> {
  const samples: number[] = [];
  while (samples.length < count) samples.push(await startOne(at));
  return samples;
}

export async function startOne({ agentClient, target }: AgentPlace): Promise<number> {
  const chatId = parseChatId(`bench-${randomUUID()}`);
  const key = buildExecutionKey({ messageId: 1 as MessageId, toolCallId: 'call' as ToolCallId });
  const call = { target, chatId, key, nonce: callNonce('bench', 0) };
  const beganMs = performance.now();
  const started = await agentClient.start({ ...call, command: 'true', background: false, waitMs: WAIT_MS });
  if (started.outcome === 'absent') throw new Error('the agent does not know a key that it has just been given');
  const view = { headBytes: PRESENTED_HEAD_BYTES, tailBytes: PRESENTED_TAIL_BYTES, onlyWhenEnded: true };
  const { exit } = await agentClient.output({ target, chatId, handle: started.handle, view, waitMs: WAIT_MS });
  if (exit?.code !== 0) throw new Error(`"true" ended with ${exit?.code ?? 'no exit'}`);
  return performance.now() - beganMs;
}

/** `bash -c true` from a small process: what no agent can be cheaper than by much. */
export function spawnBare(
  { spawner }: Stage,
  request: { readonly count: number; readonly isSideBySide: boolean },
): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  spawner.onNextLine((line) => resolve(JSON.parse(line) as number[]));
  spawner.stdin.write(`${JSON.stringify(request)}\n`);
  return promise;
}
