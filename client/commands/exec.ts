/** `latchkey exec`: runs a command at the agent under a key, so that a person can try the promise by hand. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { join, resolve } from 'node:path';
import type { AgentClient } from '../../agent-client/agent-client.ts';
import { createAgentClient } from '../../agent-client/agent-client.ts';
import { CodedError, findFailureCode } from '../../contract/failures.ts';
import { parseExecutionKey } from '../../contract/execution-key.ts';
import type { ExecutionKey, Nonce } from '../../contract/ids.ts';
import { parseChatId, parseNonce } from '../../contract/ids.ts';
import type { Target } from '../../contract/target.ts';
import type { OutputAnswer } from '../../contract/wire/output.ts';
import { agentAt } from '../ask-agent.ts';
import { defaultStateFolder } from '../default-state.ts';
import { quoteWords } from '../quote-words.ts';

const WAIT_MS = 5000;
const RETRY_MS = 500;

interface ExecFlags {
  readonly key: string;
  readonly chat: string;
  readonly nonce?: string;
  readonly agent?: string;
  readonly state?: string;
  readonly workdir?: string;
  readonly background: boolean;
  readonly json: boolean;
}

const HELP = `
The key is <message number>-<any name>. The same key again attaches to the same command, running or ended; with
another command it is refused. Ctrl-C leaves: the command runs on. The exit code is the command's own; 125 is ours.
The promise is the agent's journal: when its state folder is restored from a backup, keys that came later are unknown to it.

Examples:
  latchkey exec --key 1-build -- make -j2
  latchkey exec --key 2-wait -- 'sleep 20; echo done'     # kill the agent meanwhile, start it, say this again
  latchkey exec --key 3-server --background -- python3 -m http.server
`;

export function addExecCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('exec')
    .description('run a command at the agent under a key, at most once')
    .requiredOption('--key <KEY>', 'idempotency key, such as 1-build')
    .option('--chat <ID>', 'chat that the key belongs to', 'local')
    .option('--nonce <TEXT>', 'identity of this very call (default: the key)')
    .option(
      '--agent <ADDRESS>',
      'unix:/path or http://host:port (default: LATCHKEY_AGENT_ADDRESS, else the agent of this folder)',
    )
    .option('--state <DIR>', "the agent's state folder: its socket is there")
    .option('--workdir <DIR>', 'working directory, relative to the workspace')
    .option('--background', 'start it and leave', false)
    .option('--json', 'one line with the end, instead of the output', false)
    .argument('<command...>', 'one word: shell text; several: a program and its arguments')
    .passThroughOptions()
    .addHelpText('after', HELP)
    .action(async (words: string[], flags: ExecFlags) => setExitCode(await exec(words, flags)));
}

async function exec(words: readonly string[], flags: ExecFlags): Promise<number> {
  const client = createAgentClient(agentAt(agentAddress(flags), process.env));
  const leave = new AbortController();
  const onInterrupt = (): void => leave.abort();
  process.once('SIGINT', onInterrupt);
  try {
    return await new Exec(client, words, flags, leave.signal).run();
  } catch (error) {
    if (!leave.signal.aborted) throw error;
    process.stderr.write(`\nleft; the command runs on. Attach again with the same words, key ${flags.key}.\n`);
    return 130;
  } finally {
    process.off('SIGINT', onInterrupt);
    await client.close();
  }
}

type Call = Parameters<AgentClient['probe']>[0];

class Exec {
  readonly #client: AgentClient;
  readonly #flags: ExecFlags;
  readonly #command: string;
  readonly #key: ExecutionKey;
  readonly #nonce: Nonce;
  readonly #signal: AbortSignal;
  #written = 0;

  constructor(client: AgentClient, words: readonly string[], flags: ExecFlags, signal: AbortSignal) {
    this.#client = client;
    this.#flags = flags;
    this.#command = words.length === 1 ? (words[0] ?? '') : quoteWords(words);
    this.#key = parseExecutionKey(flags.key);
    this.#nonce = parseNonce(flags.nonce ?? flags.key);
    this.#signal = signal;
  }

  async run(): Promise<number> {
    const chatId = parseChatId(this.#flags.chat);
    const info = await this.#client.info({}, { signal: this.#signal });
    const target: Target = {
      agentId: info.agentId,
      journalId: info.journalId,
      incarnation: info.incarnation,
      sequence: info.sequence,
    };
    const call = { target, chatId, key: this.#key, nonce: this.#nonce };
    const handle = await this.#persist(async () => {
      const answer = await this.#client.start(
        {
          ...call,
          command: this.#command,
          background: this.#flags.background,
          ...(this.#flags.workdir !== undefined && { workdir: this.#flags.workdir }),
          waitMs: WAIT_MS,
        },
        { signal: this.#signal },
      );
      if (answer.outcome === 'absent') throw new CodedError('agent_defect', 'the agent says absent to a plain start');
      const age = answer.outcome === 'attached' ? `, started ${(answer.ageMs / 1000).toFixed(1)} s ago` : '';
      process.stderr.write(`${answer.outcome} ${answer.handle}${age}\n`);
      return answer.handle;
    });
    if (this.#flags.background) {
      if (this.#flags.json) process.stdout.write(`${JSON.stringify({ key: this.#key, handle, state: 'running' })}\n`);
      return 0;
    }
    for (;;) {
      const answer = await this.#persist(() => this.#read(call));
      const isAtEnd = this.#write(answer);
      if (answer.state === 'exited' && isAtEnd) return this.#end(answer);
      if (answer.state === 'lost' && isAtEnd) {
        // No code of ours: its next step would be a guess at what happened.
        throw new Error(`unknown: ${answer.reason ?? 'the command is lost'}; it is never run again under this key`);
      }
    }
  }

  /** The next bytes. With --json none are asked for: then only the end is of interest. */
  async #read(call: Call): Promise<OutputAnswer> {
    const ask = { ...call, waitMs: WAIT_MS };
    const options = { signal: this.#signal };
    if (this.#flags.json) return this.#client.output(ask, options);
    try {
      return await this.#client.output({ ...ask, from: this.#written }, options);
    } catch (error) {
      if (!(error instanceof CodedError) || error.field !== 'from') throw error;
    }
    // The middle of a large output is not kept: tell how much is missing, and go on behind it.
    const answer = await this.#client.output({ ...call, waitMs: 0 }, options);
    const gap = answer.dropped.find(([from, to]) => from <= this.#written && this.#written < to);
    if (gap === undefined) throw new CodedError('agent_defect', 'the agent names a gap and then has none');
    process.stderr.write(`\n[${gap[1] - this.#written} bytes are not kept]\n`);
    this.#written = gap[1];
    return this.#read(call);
  }

  /** The same request until the agent answers: a key makes that safe. Only a fault is tried again, never a conflict. */
  async #persist<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    let isTold = false;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        const code = findFailureCode(error);
        if (this.#signal.aborted || (code !== 'agent_unreachable' && code !== 'start_pending')) throw error;
        if (!isTold) process.stderr.write(`${(error as Error).message}; asking again (Ctrl-C leaves)\n`);
        isTold = true;
        await delay(RETRY_MS, undefined, { signal: this.#signal });
      }
    }
  }

  /** Writes what is new; true when nothing more is to come now. */
  #write(answer: OutputAnswer): boolean {
    const { bytes } = answer;
    if (bytes === undefined) return true;
    if (!this.#flags.json) process.stdout.write(Buffer.from(bytes.base64, 'base64'));
    this.#written = bytes.next;
    return bytes.next >= answer.total;
  }

  #end(answer: OutputAnswer): number {
    const { exit } = answer;
    if (this.#flags.json) {
      const { handle, state, total, outputOpen } = answer;
      process.stdout.write(
        `${JSON.stringify({ key: this.#key, handle, state, exit, totalBytes: total, outputOpen })}\n`,
      );
    }
    if (exit?.signal !== undefined) process.stderr.write(`ended by ${exit.signal}\n`);
    if (answer.outputOpen) process.stderr.write('something still holds the output and may write more\n');
    return exit?.code ?? 0;
  }
}

function agentAddress(flags: ExecFlags): string {
  if (flags.agent !== undefined) return flags.agent;
  if (flags.state !== undefined) return `unix:${resolve(flags.state, 'agent.sock')}`;
  const configured = process.env['LATCHKEY_AGENT_ADDRESS'];
  if (configured !== undefined && configured !== '') return configured;
  return `unix:${join(defaultStateFolder(process.cwd(), process.env), 'agent.sock')}`;
}
