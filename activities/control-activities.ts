import type { AgentClient } from '../agent-client/agent-client.ts';
import type { ControlActivities } from '../contract/activity-interfaces.ts';
import { cancelCall } from './cancel-call.ts';
import { describeAgent } from './describe-agent.ts';
import { readProcess } from './read-process.ts';
import { signalProcess } from './signal-process.ts';

/** What runs on an agent's control queue: everything short. */
export function createControlActivities({ client }: { client: AgentClient }): ControlActivities {
  return {
    describeAgent: (input) => describeAgent(client, input),
    cancelCall: (input) => cancelCall(client, input),
    readProcess: (input) => readProcess(client, input),
    signalProcess: (input) => signalProcess(client, input),
  };
}
