/** `latchkey deploy`: the builds of the turn worker; `latchkey deploy current` makes one of them current. */
import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { BUILD_ID, BUILD_ID_WORDS, DEPLOYMENT_NAME, DEPLOYMENT_NAME_WORDS } from '../../contract/deployment.ts';
import { CodedError } from '../../contract/failures.ts';
import { findDeploymentName, readDeployment } from '../deploy/read-deployment.ts';
import type { Build, Deployment } from '../deploy/read-deployment.ts';
import { setCurrentBuild } from '../deploy/set-current-build.ts';

interface DeployFlags {
  readonly deployment?: string;
  readonly json: boolean;
}

interface CurrentFlags extends DeployFlags {
  readonly unversioned: boolean;
  readonly force: boolean;
}

const HELP = `
A turn ends on the build that began it (TURNS); settles, sweeps and chats move to the current build (MOVING). The workers of
a build must stay until it is "drained"; the server takes some minutes to say so after the last turn has ended.

Exit code: 0, or 1 when a build has turns and no worker: they wait until there is one again.

Examples:
  latchkey deploy                       what runs on which build
  latchkey deploy current 3f2a91c       new turns begin on this build; also the way back to an earlier one
  latchkey deploy current --unversioned back to workers without a build id
  latchkey deploy --json                for a script
`;

export function addDeployCommand(program: Command, setExitCode: (code: number) => void): void {
  const deploy = program
    .command('deploy')
    .description('list the builds of the turn worker: which is current, what still runs on each')
    .option('--deployment <NAME>', 'default: LATCHKEY_DEPLOYMENT, or the only one there is')
    .option('--json', 'one JSON object', false)
    .addHelpText('after', HELP)
    .action(async (flags: DeployFlags) => setExitCode(await list(flags)));
  deploy
    .command('current')
    .argument('[BUILD_ID]', 'the build id of turn workers that are up')
    .description('make a build current: new turns begin on it')
    .option('--deployment <NAME>', 'default: LATCHKEY_DEPLOYMENT, or the only one there is')
    .option('--unversioned', 'no build: workers without LATCHKEY_BUILD_ID take what is new', false)
    .option('--force', 'also when its workers do not poll every queue that the current build has', false)
    .option('--json', 'one JSON object', false)
    .action(async (buildId: string | undefined, flags: CurrentFlags) => {
      // A flag of the same name may stand before the word "current".
      const before = deploy.opts<DeployFlags>();
      await makeCurrent(buildId, { ...before, ...flags, json: flags.json || before.json });
    });
}

async function list(flags: DeployFlags): Promise<number> {
  const deployment = await withClient(flags, readDeployment);
  process.stdout.write(flags.json ? `${JSON.stringify(deployment)}\n` : deploymentTable(deployment));
  return deployment.builds.some(isLeft) ? 1 : 0;
}

async function makeCurrent(given: string | undefined, flags: CurrentFlags): Promise<void> {
  if ((given === undefined) !== flags.unversioned) {
    throw new CodedError('configuration', 'give the build id that becomes current, or --unversioned.', 'BUILD_ID');
  }
  if (given !== undefined && !BUILD_ID.test(given)) {
    throw new CodedError('configuration', `a build id is ${BUILD_ID_WORDS}, not ${JSON.stringify(given)}.`, 'BUILD_ID');
  }
  const { force } = flags;
  const { deployment, previous } = await withClient(flags, async (client, name) => ({
    deployment: name,
    previous: await setCurrentBuild(client, { deployment: name, buildId: given, force }),
  }));
  if (flags.json) {
    process.stdout.write(`${JSON.stringify({ deployment, current: given ?? null, previous: previous ?? null })}\n`);
    return;
  }
  const now = given === undefined ? 'workers without a build id take' : `build ${given} takes`;
  const before =
    previous === undefined || previous === given ? '' : `; turns of build ${previous} end there, so keep its workers`;
  process.stdout.write(`deployment ${deployment}: ${now} what is new${before}\n`);
}

/** With a client of the configured server (TEMPORAL_ADDRESS), and the deployment's name. */
async function withClient<Value>(
  { deployment: flag }: DeployFlags,
  work: (client: Client, deployment: string) => Promise<Value>,
): Promise<Value> {
  const given = flag ?? (process.env['LATCHKEY_DEPLOYMENT'] || undefined);
  if (given !== undefined && !DEPLOYMENT_NAME.test(given)) {
    const reason = `a deployment's name is ${DEPLOYMENT_NAME_WORDS}, not ${JSON.stringify(given)}`;
    throw new CodedError('configuration', `${reason}.`, 'LATCHKEY_DEPLOYMENT');
  }
  // Late: a client costs a second of start-up.
  const { connectClient } = await import('../../tools/temporal/connection.ts');
  const client = await connectClient();
  try {
    return await work(client, await findDeploymentName(client, given));
  } finally {
    await client.connection.close();
  }
}

/** Has turns that nobody can go on with. */
function isLeft({ pinnedRuns, workers }: Build): boolean {
  return pinnedRuns > 0 && workers === 0;
}

function deploymentTable({ deployment, builds }: Deployment): string {
  const rows = [
    ['BUILD', 'STATE', 'TURNS', 'MOVING', 'WORKERS', 'SINCE', ''],
    ...builds
      .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
      .map((build) => [
        build.buildId,
        build.state,
        String(build.pinnedRuns),
        String(build.movingRuns),
        String(build.workers),
        build.createdAt.slice(0, 16).replace('T', ' '),
        adviceOf(build),
      ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [`deployment ${deployment}`, ...lines].map((line) => `${line}\n`).join('');
}

function adviceOf(build: Build): string {
  if (isLeft(build)) return 'its turns wait: start a worker of this build again';
  if (build.state === 'drained') return 'its workers may be ended';
  if (build.state === 'draining')
    return build.pinnedRuns > 0 ? 'keep its workers' : 'no turn is left; the server says so soon';
  return '';
}
