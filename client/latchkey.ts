/** The `latchkey` command line: one command a file in commands/. */
import { Command, CommanderError } from 'commander';
import { describeFailure } from './describe-failure.ts';
import { readVersion } from './version.ts';
import { plainText } from './watch/plain-text.ts';

const EXAMPLES = `
Examples:
  latchkey doctor                                   what is missing here
  latchkey run --model anthropic/<model> "…"        one turn in this folder; Ctrl-C leaves, --attach watches again
  latchkey calls --watch                            what runs, and what is stuck
  latchkey agent                                    run the agent of the current folder
  latchkey exec --key 1-a -- 'sleep 20; echo done'  run a command under a key; say it again to attach to it
`;

type AddCommand = (program: Command, setExitCode: (code: number) => void) => void;

/** In the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<AddCommand>>> = {
  run: async () => (await import('./commands/run.ts')).addRunCommand,
  dev: async () => (await import('./commands/dev.ts')).addDevCommand,
  calls: async () => (await import('./commands/calls.ts')).addCallsCommand,
  call: async () => (await import('./commands/call.ts')).addCallCommand,
  chat: async () => (await import('./commands/chat.ts')).addChatCommand,
  chats: async () => (await import('./commands/chats.ts')).addChatsCommand,
  export: async () => (await import('./commands/export.ts')).addExportCommand,
  import: async () => (await import('./commands/import.ts')).addImportCommand,
  store: async () => (await import('./commands/store.ts')).addStoreCommand,
  deploy: async () => (await import('./commands/deploy.ts')).addDeployCommand,
  events: async () => (await import('./commands/events.ts')).addEventsCommand,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctorCommand,
  agent: async () => (await import('./commands/agent.ts')).addAgentCommand,
  exec: async () => (await import('./commands/exec.ts')).addExecCommand,
  gateway: async () => (await import('./commands/gateway.ts')).addGatewayCommand,
};

/** Exit code for our own failures, as in docker and env: apart from what a command may answer itself. */
export const OWN_FAILURE = 125;

/** Runs one command line; returns the exit code. A failure is one clear line, never a stack trace. */
export async function latchkeyMain(words: readonly string[]): Promise<number> {
  // Whoever reads our output may leave, as `head` does: nothing more to say, and no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(141);
  });
  try {
    process.cwd();
  } catch {
    process.stderr.write('latchkey: the current folder does not exist any more: go to another one\n');
    return OWN_FAILURE;
  }
  let exitCode = 0;
  const setExitCode = (code: number): void => {
    exitCode = code;
  };
  const program = new Command('latchkey')
    .description('Durable chat turns on Temporal whose commands run at most once.')
    .version(readVersion())
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .showHelpAfterError('(latchkey --help lists the commands)')
    .enablePositionalOptions();
  for (const add of await commandsFor(words)) add(program, setExitCode);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : OWN_FAILURE;
    process.stderr.write(`latchkey: ${plainText(describeFailure(error))}\n`);
    return OWN_FAILURE;
  }
}

/**
 * The one that is named, or all of them for the help and for a word that names none. What a command needs is loaded
 * with it alone: the agent, which pays for its size at every fork, runs in the process of its command.
 */
async function commandsFor([name = '']: readonly string[]): Promise<readonly AddCommand[]> {
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return Promise.all((load === undefined ? Object.values(COMMANDS) : [load]).map((one) => one()));
}

if (import.meta.main) process.exitCode = await latchkeyMain(process.argv.slice(2));
