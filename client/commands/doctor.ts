/** `latchkey doctor`: what is there, what is missing, and the next step. */
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { openStageFolder } from '../dev/stage-folder.ts';
import { checkNode, checkProc, checkStateFolder, checkTools } from '../doctor/check-machine.ts';
import { checkModel } from '../doctor/check-model.ts';
import { checkPieces } from '../doctor/check-pieces.ts';
import type { Finding, Verdict } from '../doctor/finding.ts';

interface DoctorFlags {
  readonly workspace: string;
  readonly json: boolean;
}

const MARKS = { ok: ['green', '✓'], note: ['yellow', '·'], missing: ['red', '✗'] } as const satisfies Record<
  Verdict,
  readonly [string, string]
>;

const HELP = `
Looks only: nothing is started, sent to a provider, or mended. Exit code: 0, or 1 when something is missing.

Examples:
  latchkey doctor
  TEMPORAL_ADDRESS=temporal.example:7233 latchkey doctor --json
`;

export function addDoctorCommand(program: Command, setExitCode: (code: number) => void): void {
  program
    .command('doctor')
    .description('check machine, tools, server, store, agent, worker and model; say what is missing')
    .option('--workspace <DIR>', 'the folder to work in', process.cwd())
    .option('--json', 'one JSON object', false)
    .addHelpText('after', HELP)
    .action(async (flags: DoctorFlags) => setExitCode(await doctor(flags)));
}

async function doctor(flags: DoctorFlags): Promise<number> {
  const folder = openStageFolder(flags.workspace, process.env);
  const findings = [
    checkNode(process.versions.node),
    checkProc(),
    ...checkTools(process.env['PATH'] ?? ''),
    checkStateFolder(folder),
    ...(await checkPieces(folder, process.env)),
    checkModel(process.env),
  ];
  const missing = findings.filter(({ verdict }) => verdict === 'missing').length;
  if (flags.json) process.stdout.write(`${JSON.stringify({ isReady: missing === 0, findings })}\n`);
  else {
    const end = missing === 0 ? 'ready: latchkey run "…"' : `${missing} missing`;
    process.stdout.write(`${[...findings.flatMap(linesOf), end].join('\n')}\n`);
  }
  return missing === 0 ? 0 : 1;
}

function linesOf({ about, verdict, detail, nextStep }: Finding): string[] {
  const [colour, mark] = MARKS[verdict];
  const line = `${styleText(colour, mark)} ${about.padEnd(14)}  ${detail}`;
  return nextStep === undefined || verdict === 'ok' ? [line] : [line, `${' '.repeat(18)}→ ${nextStep}`];
}
