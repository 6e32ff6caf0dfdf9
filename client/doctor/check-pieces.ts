/** What is reachable now: Temporal, store, agent, workers. Nothing is started for a look. */
import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import { CodedError, FAILURES } from '../../contract/failures.ts';
import type { AgentId } from '../../contract/ids.ts';
import { POLLER_SILENCE_MS_DEFAULT } from '../../contract/limits.ts';
import { showStoreUrl } from '../../contract/store-url.ts';
import { agentAt, askAgent } from '../ask-agent.ts';
import { findLastPoll } from '../calls/last-poll.ts';
import { connectTemporal } from '../connect-temporal.ts';
import type { StageFolder } from '../dev/stage-folder.ts';
import { findLiveRecord } from '../dev/stage-record.ts';
import { readStageSettings } from '../dev/stage-settings.ts';
import { openStore } from '../open-store.ts';
import { formatDuration } from '../watch/format-time.ts';
import type { Finding } from './finding.ts';

const ASK_AGENT_MS_MAX = 3000;
const WILL_START = '"latchkey run" and "latchkey dev" start one';

export async function checkPieces(folder: StageFolder, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const live = findLiveRecord(folder);
  const settings = readStageSettings(folder, env);
  const places = live?.places;
  const address = env['TEMPORAL_ADDRESS'] || places?.temporalAddress;
  const namespace = env['TEMPORAL_NAMESPACE'] || places?.temporalNamespace || 'default';
  const temporal = await checkTemporal(address, namespace, env);
  const agent = await checkAgent(places?.agentAddress ?? settings.agentAddress, env, settings.ownsAgent);
  const findings = [temporal.finding, await checkStore(places?.storeUrl ?? settings.storeUrl), agent.finding];
  if (temporal.client !== undefined) {
    if (agent.agentId !== undefined)
      findings.push(await checkWorker(temporal.client, agent.agentId, settings.ownsExecuteWorker));
    await temporal.client.connection.close();
  }
  return findings;
}

async function checkTemporal(
  address: string | undefined,
  namespace: string,
  env: NodeJS.ProcessEnv,
): Promise<{ finding: Finding; client?: Client }> {
  const about = 'temporal';
  if (address === undefined) return { finding: await checkDevServer(env) };
  try {
    const client = await connectTemporal({ temporalAddress: address, temporalNamespace: namespace });
    return { finding: { about, verdict: 'ok', detail: `${address}, namespace ${namespace}` }, client };
  } catch (error) {
    return { finding: failed(about, error) };
  }
}

/** No server is there: is one at hand, without a download or a build? */
async function checkDevServer(env: NodeJS.ProcessEnv): Promise<Finding> {
  const about = 'temporal';
  const [{ DEV_SERVER_SOURCES }, { searchSources }] = await Promise.all([
    import('../../tools/temporal/find-dev-server.ts'),
    import('../../tools/temporal/server-source.ts'),
  ]);
  const lookOnly = DEV_SERVER_SOURCES.map(({ name, look }) => ({ name, look }));
  try {
    const { found } = await searchSources(lookOnly, { env, onProgress: () => undefined });
    if (found !== undefined) {
      return { about, verdict: 'ok', detail: `none runs here; ${WILL_START} (${found.source})` };
    }
    const nextStep = `The first "latchkey run" downloads or builds one, which takes minutes; or set TEMPORAL_ADDRESS, or TEMPORAL_CLI.`;
    return { about, verdict: 'note', detail: 'none runs here, and no dev server is at hand', nextStep };
  } catch (error) {
    return failed(about, error);
  }
}

async function checkStore(url: string): Promise<Finding> {
  const about = 'store';
  const path = url.replace(/^sqlite:/, '');
  if (url.startsWith('sqlite:') && !existsSync(path))
    return { about, verdict: 'ok', detail: `${showStoreUrl(url)} is made at first use` };
  try {
    const store = await openStore(url);
    await store.close();
    return { about, verdict: 'ok', detail: showStoreUrl(url) };
  } catch (error) {
    return failed(about, error);
  }
}

async function checkAgent(
  address: string,
  env: NodeJS.ProcessEnv,
  isOurs: boolean,
): Promise<{ finding: Finding; agentId?: AgentId }> {
  const about = 'agent';
  try {
    const asked = { ...agentAt(address, env), answerMarginMs: ASK_AGENT_MS_MAX };
    const { agentId, version, counts, workspace } = await askAgent(asked);
    const detail = `${agentId} at ${address}, version ${version}, ${workspace}, ${counts.open} commands open`;
    return { finding: { about, verdict: 'ok', detail }, agentId };
  } catch (error) {
    const isJustAway = error instanceof CodedError && error.code === 'agent_unreachable' && isOurs;
    if (isJustAway) return { finding: { about, verdict: 'ok', detail: `none runs here; ${WILL_START}` } };
    return { finding: failed(about, error) };
  }
}

async function checkWorker(client: Client, agentId: AgentId, isOurs: boolean): Promise<Finding> {
  const about = 'execute worker';
  const agoMs = await findLastPoll(client, agentId, Date.now());
  if (agoMs === undefined) return { about, verdict: 'note', detail: 'the server does not say who polls' };
  if (agoMs !== 'none' && agoMs <= POLLER_SILENCE_MS_DEFAULT) {
    return { about, verdict: 'ok', detail: `asked for work ${formatDuration(agoMs)} ago` };
  }
  const detail = `nobody polls the queue of agent ${agentId}`;
  if (isOurs) return { about, verdict: 'ok', detail: `${detail}; ${WILL_START}` };
  return { about, verdict: 'missing', detail, nextStep: 'Start the execute worker beside that agent.' };
}

function failed(about: string, error: unknown): Finding {
  const detail = error instanceof Error ? error.message : String(error);
  // The errors of tools/temporal say their next step themselves.
  const isTold = !(error instanceof CodedError) || ['temporal_unreachable', 'configuration'].includes(error.code);
  const nextStep = isTold ? undefined : FAILURES[error.code].nextStep;
  return { about, verdict: 'missing', detail, ...(nextStep !== undefined && { nextStep }) };
}
