/** The `latchkey` command line: one command a file in commands/. */
import { Command, CommanderError } from 'commander';
import { addAgentCommand } from './commands/agent.ts';
import { addCallCommand } from './commands/call.ts';
import { addCallsCommand } from './commands/calls.ts';
import { addChatCommand } from './commands/chat.ts';
import { addChatsCommand } from './commands/chats.ts';
import { addDeployCommand } from './commands/deploy.ts';
import { addDevCommand } from './commands/dev.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEventsCommand } from './commands/events.ts';
import { addExecCommand } from './commands/exec.ts';
import { addExportCommand } from './commands/export.ts';
import { addImportCommand } from './commands/import.ts';
import { addGatewayCommand } from './commands/gateway.ts';
import { addRunCommand } from './commands/run.ts';
import { addStoreCommand } from './commands/store.ts';
import { describeFailure } from './describe-failure.ts';
import { readVersion } from './version.ts';

const EXAMPLES = `
Examples:
  latchkey doctor                                   what is missing here
  latchkey run --model anthropic/<model> "…"        one turn in this folder; Ctrl-C leaves, --attach watches again
  latchkey calls --watch                            what runs, and what is stuck
  latchkey agent                                    run the agent of the current folder
  latchkey exec --key 1-a -- 'sleep 20; echo done'  run a command under a key; say it again to attach to it
`;

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
  addRunCommand(program, setExitCode);
  addDevCommand(program, setExitCode);
  addCallsCommand(program, setExitCode);
  addCallCommand(program, setExitCode);
  addChatCommand(program, setExitCode);
  addChatsCommand(program);
  addExportCommand(program);
  addImportCommand(program);
  addStoreCommand(program, setExitCode);
  addDeployCommand(program, setExitCode);
  addEventsCommand(program, setExitCode);
  addDoctorCommand(program, setExitCode);
  addAgentCommand(program, setExitCode);
  addExecCommand(program, setExitCode);
  addGatewayCommand(program);
  try {
    await program.parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : OWN_FAILURE;
    process.stderr.write(`latchkey: ${describeFailure(error)}\n`);
    return OWN_FAILURE;
  }
}

if (import.meta.main) process.exitCode = await latchkeyMain(process.argv.slice(2));
