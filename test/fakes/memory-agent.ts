/**
 * An agent in memory, for tests that want an agent's behaviour and no durability: same wire, same rules of keys,
 * commands as children of this process. test/contract/agent.ts holds it to what the real one does.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { constants } from 'node:os';
import { CodedError, FAILURES, findFailureCode } from '../../contract/failures.ts';
import type { AgentId, Handle, Incarnation, JournalId } from '../../contract/ids.ts';
import { AGENT_BODY_BYTES_MAX } from '../../contract/limits.ts';
import type { Target } from '../../contract/target.ts';
import { cancelRequestSchema } from '../../contract/wire/cancel.ts';
import { infoRequestSchema } from '../../contract/wire/info.ts';
import { listRequestSchema } from '../../contract/wire/list.ts';
import type { OutputRequest } from '../../contract/wire/output.ts';
import { outputRequestSchema } from '../../contract/wire/output.ts';
import { probeRequestSchema } from '../../contract/wire/probe.ts';
import type { StartRequest } from '../../contract/wire/start.ts';
import { startRequestSchema } from '../../contract/wire/start.ts';

interface Call {
  readonly chatId: string;
  readonly key: string;
  readonly nonce: string;
  readonly fingerprint: string | undefined;
  readonly handle: Handle;
  readonly startedAt: string;
  readonly startedMs: number;
  readonly child: ChildProcess | undefined;
  output: Buffer;
  isOpen: boolean;
  isKilled: boolean;
  exit: { code: number; signal?: string; killedBy?: 'cancel'; durationMs: number } | undefined;
  ended: Promise<unknown>;
}

export class MemoryAgent {
  readonly target: Target = {
    agentId: 'a-memory' as AgentId,
    journalId: 'j-memory' as JournalId,
    incarnation: 'memory' as Incarnation,
    sequence: 1,
  };
  readonly #calls: Call[] = [];
  readonly #workspace: string;
  readonly #server = createServer((request, response) => {
    void (async () => {
      let status = 200;
      let answer: object;
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
        answer = await this.#answer(request.url ?? '', Buffer.concat(chunks));
      } catch (error) {
        const code = findFailureCode(error) ?? 'agent_defect';
        const { message, field } = error as CodedError;
        status = FAILURES[code].status;
        answer = { error: { code, message, ...(field !== undefined && { field }) } };
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ protocol: 1, ...this.target, ...answer }));
    })();
  });

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  async listen(socket: string): Promise<void> {
    this.#server.listen(socket);
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    for (const call of this.#calls) stop(call);
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(url: string, body: Buffer): Promise<object> {
    if (body.length > AGENT_BODY_BYTES_MAX) throw new CodedError('body_too_large', 'too large', 'body');
    switch (url) {
      case '/v1/start':
        return this.#start(parse(startRequestSchema, body));
      case '/v1/probe':
        return this.#probe(parse(probeRequestSchema, body));
      case '/v1/cancel':
        return this.#cancel(parse(cancelRequestSchema, body));
      case '/v1/output':
        return this.#output(parse(outputRequestSchema, body));
      case '/v1/list':
        this.#requireTarget(parse(listRequestSchema, body).target);
        return { processes: [] };
      case '/v1/info': {
        parse(infoRequestSchema, body);
        const counts = {
          open: this.#calls.filter((call) => call.exit === undefined).length,
          calls: this.#calls.length,
        };
        const versions = { version: 'fake', nodeVersion: process.version, pid: process.pid };
        return { ...versions, workspace: this.#workspace, ready: true, tree: 'group', limits: {}, counts };
      }
      default:
        throw new CodedError('unknown_verb', url);
    }
  }

  #start(request: StartRequest): object {
    this.#requireTarget(request.target);
    const { chatId, nonce, command, workdir, env, background } = request;
    const fingerprint = JSON.stringify([chatId, nonce, command, workdir, Object.entries(env ?? {}), background]);
    const known = this.#find(request);
    if (known !== undefined) {
      if (known.fingerprint !== undefined && known.fingerprint !== fingerprint) {
        throw new CodedError('input_mismatch', 'another input', 'key');
      }
      if (known.child === undefined) throw new CodedError('canceled', 'fenced');
      return { outcome: 'attached', ...this.#started(known) };
    }
    if (request.mustExist === true) {
      this.#fence(request);
      return { outcome: 'absent' };
    }
    if (request.target.incarnation !== this.target.incarnation) {
      this.#fence(request);
      throw new CodedError('journal_doubtful', 'dispatched to another incarnation');
    }
    return { outcome: 'started', ...this.#started(this.#run(request, fingerprint)) };
  }

  #run(request: StartRequest, fingerprint: string): Call {
    // One pipe for both streams, so that their order is kept; through `cat`, since what Node calls a pipe is a socket,
    // which /dev/stderr can't open. A group of its own, so that the tree can be ended.
    const child = spawn('bash', ['-c', `exec > >(cat) 2>&1\n${request.command}`], {
      cwd: request.workdir ?? this.#workspace,
      env: { ...process.env, ...request.env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const call = this.#add(request, fingerprint, child);
    child.stdout?.on('data', (chunk: Buffer) => (call.output = Buffer.concat([call.output, chunk])));
    child.once('close', () => (call.isOpen = false));
    call.ended = once(child, 'exit').then((ending) => {
      const [code, signal] = ending as [number | null, NodeJS.Signals | null];
      call.exit = {
        code: code ?? 128 + constants.signals[signal ?? 'SIGKILL'],
        ...(signal !== null && { signal }),
        ...(call.isKilled && { killedBy: 'cancel' as const }),
        durationMs: performance.now() - call.startedMs,
      };
    });
    return call;
  }

  #probe(request: Parameters<MemoryAgent['find']>[0]): object {
    this.#requireTarget(request.target);
    const call = this.#find(request);
    return call === undefined ? { state: 'absent' } : this.#state(call);
  }

  async #cancel(request: Parameters<MemoryAgent['find']>[0] & { readonly mode: 'kill' | 'fence' }): Promise<object> {
    this.#requireTarget(request.target);
    const call = this.#find(request) ?? this.#fence(request);
    if (request.mode === 'kill' && call.child !== undefined && call.exit === undefined) {
      call.isKilled = true;
      stop(call);
      await call.ended;
    }
    return { ...this.#state(call), survivors: [] };
  }

  async #output(request: OutputRequest): Promise<object> {
    this.#requireTarget(request.target);
    const found =
      request.key === undefined
        ? this.#calls.find((call) => call.chatId === request.chatId && call.handle === request.handle)
        : this.#find({ ...request, key: request.key, nonce: request.nonce ?? '' });
    if (found?.child === undefined) throw new CodedError('unknown_process', 'no such process', 'handle');
    const deadline = performance.now() + (request.waitMs ?? 0);
    const hasNews = (): boolean =>
      found.exit !== undefined || (request.from !== undefined && found.output.length > request.from);
    while (!hasNews() && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 5));
    // The last bytes come after the exit; a background child may hold the pipe for ever.
    const quietBy = performance.now() + 250;
    while (found.exit !== undefined && found.isOpen && performance.now() < quietBy) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const { output } = found;
    const { from, view } = request;
    const head = output.subarray(0, view?.headBytes ?? 0);
    const tail = output.subarray(Math.max(head.length, output.length - (view?.tailBytes ?? 0)));
    return {
      ...this.#process(found),
      total: output.length,
      dropped: [],
      outputOpen: found.isOpen,
      outputIncomplete: false,
      lastLine: output.toString().trimEnd().split('\n').at(-1) ?? '',
      ...(from !== undefined && {
        bytes: { from, next: Math.max(from, output.length), base64: output.subarray(from).toString('base64') },
      }),
      ...(view !== undefined &&
        (found.exit !== undefined || view.onlyWhenEnded !== true) && {
          view: {
            head: head.toString('base64'),
            tail: tail.toString('base64'),
            omitted: output.length - head.length - tail.length,
          },
        }),
    };
  }

  /** Public only for its parameter's type. */
  find(request: { target: Target; chatId: string; key: string; nonce: string }): Call | undefined {
    return this.#find(request);
  }

  #find(request: { chatId: string; key: string; nonce: string }): Call | undefined {
    const call = this.#calls.find(({ chatId, key }) => chatId === request.chatId && key === request.key);
    if (call !== undefined && call.nonce !== request.nonce)
      throw new CodedError('input_mismatch', 'another nonce', 'nonce');
    return call;
  }

  #fence(request: { chatId: string; key: string; nonce: string }): Call {
    return this.#add(request, undefined, undefined);
  }

  #add(
    request: { chatId: string; key: string; nonce: string },
    fingerprint: string | undefined,
    child: ChildProcess | undefined,
  ): Call {
    const { chatId, key, nonce } = request;
    const call: Call = {
      chatId,
      key,
      nonce,
      fingerprint,
      child,
      handle: `m${this.#calls.length + 1}` as Handle,
      startedAt: new Date().toISOString(),
      startedMs: performance.now(),
      output: Buffer.alloc(0),
      isOpen: child !== undefined,
      isKilled: false,
      exit: undefined,
      ended: Promise.resolve(),
    };
    this.#calls.push(call);
    return call;
  }

  #process(call: Call) {
    return {
      handle: call.handle,
      state: call.exit === undefined ? 'running' : 'exited',
      startedAt: call.startedAt,
      ageMs: performance.now() - call.startedMs,
      ...(call.exit !== undefined && { exit: call.exit }),
    };
  }

  #started(call: Call): object {
    return { ...this.#process(call), launches: 1, background: false };
  }

  #state(call: Call): object {
    return call.child === undefined ? { state: 'fenced' } : this.#process(call);
  }

  #requireTarget(target: Target): void {
    if (target.agentId === this.target.agentId && target.journalId === this.target.journalId) return;
    throw new CodedError('journal_replaced', 'another journal');
  }
}

function stop(call: Call): void {
  if (call.child?.pid === undefined || call.exit !== undefined) return;
  try {
    process.kill(-call.child.pid, 'SIGTERM');
  } catch {
    // It ended in this moment.
  }
}

function parse<Body>(
  schema: { safeParse(value: unknown): { success: true; data: Body } | { success: false; error: { issues: Issue[] } } },
  body: Buffer,
): Body {
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw new CodedError('bad_request', 'the body is not JSON', 'body');
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = [...(issue?.path ?? []), ...(issue?.keys?.slice(0, 1) ?? [])].join('.') || 'body';
  throw new CodedError('bad_request', `${field}: ${issue?.message ?? ''}`, field);
}

interface Issue {
  readonly path: PropertyKey[];
  readonly message: string;
  readonly keys?: string[];
}
