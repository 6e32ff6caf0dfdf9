/** A turn whose end is told to a webhook, and the notice, whose first try was answered with 503. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { noticeWorkflowId } from '../../../contract/names.ts';
import { attributesOf, endOf } from '../recorded-history.ts';
import { execute } from '../recording/recording-system.ts';
import type { Kind } from './kind.ts';

const TURN_QUEUE = 'latchkey-noticed';
/** Of nothing. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export const noticed: Kind = {
  name: 'noticed',
  async record(system) {
    const answers = [503, 204];
    const server = createServer((_, response) => response.writeHead(answers.shift() ?? 204).end());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const worker = await system.stage.startTurnWorker({
      ...system.temporal,
      LATCHKEY_TURN_QUEUE: TURN_QUEUE,
      LATCHKEY_WEBHOOK_URL: `http://127.0.0.1:${port}/turns`,
      LATCHKEY_WEBHOOK_SECRET: SECRET,
    });
    try {
      const turn = await system.startTurn('noticed', [[execute('look', 'echo hello')]], { taskQueue: TURN_QUEUE });
      await turn.handle.result();
      const workflowId = noticeWorkflowId(turn.chatId, 1);
      await system.client.workflow.getHandle(workflowId).result();
      return { turn: { workflowId: turn.handle.workflowId }, notice: { workflowId } };
    } finally {
      await worker.kill('SIGTERM');
      server.closeAllConnections();
      server.close();
    }
  },
  facts: ({ turn = { events: [] }, notice = { events: [] } }) => ({
    'the turn started a notice': attributesOf(turn, 'childWorkflowExecutionStarted').length === 1,
    'it was told at the second try': attributesOf(notice, 'activityTaskStarted').some(({ attempt }) => attempt === 2),
    'it completed': endOf(notice) === 'WORKFLOW_EXECUTION_COMPLETED',
  }),
};
