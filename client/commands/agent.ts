/** `latchkey agent`: hands over to the daemon, with a state folder of the workspace's own where none is named. */
import type { Command } from 'commander';
import { defaultStateFolder } from '../default-state.ts';

export function addAgentCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('agent')
    .description('run the daemon that owns the commands of a workspace (agent --help tells more)')
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .argument('[words...]')
    .action(async (words: string[]) => {
      if (words[0] === 'retire') {
        const { retireMain } = await import('./retire.ts');
        return setExitCode(await retireMain(words.slice(1)));
      }
      // Loaded here only: the command line must not cost what the daemon costs, nor the other way round.
      const { agentMain } = await import('../../agent/main.ts');
      setExitCode(await agentMain(withState(words)));
    });
}

function withState(words: string[]): string[] {
  if (words.some((word) => word === '--state' || word.startsWith('--state=') || word === '--help' || word === '-h')) {
    return words;
  }
  const index = words.indexOf('--workspace');
  const inline = words.find((word) => word.startsWith('--workspace='))?.slice('--workspace='.length);
  const workspace = inline ?? (index === -1 ? undefined : words[index + 1]) ?? process.cwd();
  return [...words, '--state', defaultStateFolder(workspace, process.env)];
}
