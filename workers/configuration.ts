import { z } from 'zod';
import { parseWebhookSecrets } from '../activities/notices/webhook-secrets.ts';
import { parseAgentAddress } from '../agent-client/agent-address.ts';
import { BUILD_ID, BUILD_ID_WORDS, DEPLOYMENT_NAME, DEPLOYMENT_NAME_WORDS } from '../contract/deployment.ts';
import { CodedError } from '../contract/failures.ts';
import { POLLER_SILENCE_MS_DEFAULT, SWEEP_SECONDS_DEFAULT } from '../contract/limits.ts';
import { TURN_TASK_QUEUE_DEFAULT } from '../contract/names.ts';
import { readSettings, setting } from './settings.ts';
import type { SettingSources } from './settings.ts';

/** How soon a cancel and a fresh heartbeat get through; the SDK's default is a minute. */
const HEARTBEAT_THROTTLE_MS_DEFAULT = 1000;
/** Running commands of one agent that a worker attends at once; more wait unseen in the queue (I04). */
const EXECUTE_SLOTS_DEFAULT = 200;

/** Of the window: what a step may still add to it is not known before. */
const COMPACT_AT_SHARE_DEFAULT = 0.8;

const text = (reason: string) => z.string({ error: reason }).min(1, reason);
const positiveNumber = z
  .string()
  .regex(/^[1-9][0-9]{0,8}$/, 'must be a positive whole number')
  .transform(Number);
const wholeNumber = (fallback: number) => positiveNumber.default(fallback);

/** Either goes into a query and into `name:build`, so neither holds a quote or what the server splits them at. */
const deploymentText = z.string().regex(DEPLOYMENT_NAME, `must be ${DEPLOYMENT_NAME_WORDS}`);
const buildText = z.string().regex(BUILD_ID, `must be ${BUILD_ID_WORDS}`);

const temporalSettings = {
  /** Where Temporal is; without it TEMPORAL_* and the SDK's configuration file say so (`tools/temporal`). */
  temporalAddress: setting('temporal-address', 'TEMPORAL_ADDRESS', text('must not be empty').optional()),
  temporalNamespace: setting('temporal-namespace', 'TEMPORAL_NAMESPACE', text('must not be empty').optional()),
  heartbeatThrottleMs: setting(
    'heartbeat-throttle-ms',
    'LATCHKEY_HEARTBEAT_THROTTLE_MS',
    wholeNumber(HEARTBEAT_THROTTLE_MS_DEFAULT),
  ),
};

const executeSettings = {
  ...temporalSettings,
  agentAddress: setting(
    'agent',
    'LATCHKEY_AGENT_ADDRESS',
    text('give the address that the agent prints: unix:/absolute/path or http://host:port').refine(
      isAgentAddress,
      'must be unix:/absolute/path or http://host:port',
    ),
  ),
  executeSlots: setting('execute-slots', 'LATCHKEY_EXECUTE_SLOTS', wholeNumber(EXECUTE_SLOTS_DEFAULT)),
  /** After so long without a poll another machine's worker counts as gone. */
  pollerSilenceMs: setting('poller-silence-ms', 'LATCHKEY_POLLER_SILENCE_MS', wholeNumber(POLLER_SILENCE_MS_DEFAULT)),
};

const turnSettings = {
  ...temporalSettings,
  turnQueue: setting('turn-queue', 'LATCHKEY_TURN_QUEUE', text('must not be empty').default(TURN_TASK_QUEUE_DEFAULT)),
  /** How often what nobody works on any more is looked for; one schedule for all workers of the queue. */
  sweepSeconds: setting('sweep-seconds', 'LATCHKEY_SWEEP_SECONDS', wholeNumber(SWEEP_SECONDS_DEFAULT)),
  storeUrl: setting(
    'store',
    'LATCHKEY_STORE',
    text('give the store: sqlite:/var/lib/latchkey/store.db, or postgres://user:password@host/database'),
  ),
  /** Of the models in use, in tokens; without it a conversation is compacted only when its provider takes no more. */
  contextWindow: setting('context-window', 'LATCHKEY_CONTEXT_WINDOW', positiveNumber.optional()),
  compactAtShare: setting(
    'compact-at',
    'LATCHKEY_COMPACT_AT',
    z
      .string()
      .regex(/^(0?\.[0-9]{1,4}|1(\.0)?)$/, 'must be a share between 0 and 1, such as 0.8')
      .transform(Number)
      .refine((share) => share > 0, 'must be a share between 0 and 1, such as 0.8')
      .default(COMPACT_AT_SHARE_DEFAULT),
  ),
  /** Who is told of a turn's end; its secret comes by the environment alone. */
  webhookUrl: setting(
    'webhook-url',
    'LATCHKEY_WEBHOOK_URL',
    text('must not be empty')
      .refine(isWebAddress, 'must be an http or https address such as https://example.com/hooks/latchkey')
      .optional(),
  ),
  /** Made ahead by `bundleWorkflowCode`; without it the worker makes one, and keeps it for its next starts. */
  workflowBundle: setting('workflow-bundle', 'LATCHKEY_WORKFLOW_BUNDLE', text('must not be empty').optional()),
  /** The deployment that this worker belongs to, and its build within it; without both it is unversioned. */
  deployment: setting('deployment', 'LATCHKEY_DEPLOYMENT', deploymentText.optional()),
  buildId: setting('build-id', 'LATCHKEY_BUILD_ID', buildText.optional()),
};

export type TurnWorkerConfiguration = ReturnType<typeof readTurnWorkerConfiguration>;
export type ExecuteWorkerConfiguration = ReturnType<typeof readExecuteWorkerConfiguration>;

/** Throws one `configuration` error naming the setting at fault. The agent's token never comes by a flag: `ps` shows those. */
export function readExecuteWorkerConfiguration(sources: SettingSources) {
  const agentToken = sources.env['LATCHKEY_AGENT_TOKEN'] || undefined;
  return { ...readSettings(executeSettings, sources), agentToken };
}

/** Throws one `configuration` error naming the setting at fault. The webhook's secret never comes by a flag either. */
export function readTurnWorkerConfiguration(sources: SettingSources) {
  const { webhookUrl: url, deployment, buildId: build, ...settings } = readSettings(turnSettings, sources);
  const secrets = sources.env['LATCHKEY_WEBHOOK_SECRET'] ?? '';
  return {
    ...settings,
    ...versionOf(deployment, build),
    ...(url !== undefined && { webhook: { url, secrets: parseWebhookSecrets(secrets) } }),
  };
}

function versionOf(deploymentName: string | undefined, build: string | undefined) {
  if (deploymentName === undefined && build === undefined) return {};
  if (deploymentName !== undefined && build !== undefined) return { version: { deploymentName, buildId: build } };
  const { variable, flag } = deploymentName === undefined ? turnSettings.deployment : turnSettings.buildId;
  const reason = 'a versioned worker has a deployment and a build id: give both, or neither';
  throw new CodedError('configuration', `${variable} (or --${flag}) is not set: ${reason}.`, variable);
}

function isAgentAddress(address: string): boolean {
  try {
    parseAgentAddress(address);
    return true;
  } catch {
    // The setting's own message says what an address looks like.
    return false;
  }
}

function isWebAddress(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && (url.protocol === 'http:' || url.protocol === 'https:');
}
