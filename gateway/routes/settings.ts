/** What a front end should know of this gateway before it asks for anything else. */
import { z } from 'zod';
import { jsonRoute } from './route.ts';

export const settingsRoute = jsonRoute({
  method: 'GET',
  path: '/v1/settings',
  operationId: 'showSettings',
  summary: 'What new chats are bound to by default, and where the Temporal UI shows the workflows of chats and turns',
  answer: z.strictObject({
    agentId: z.string().optional(),
    model: z.string().optional(),
    temporalWorkflowsUrl: z.string().optional().describe('A turn is at …/turn%2F<chatId>%2F<turn>'),
  }),
  handle: async ({ services: { defaults, temporalWorkflowsUrl } }) => ({
    ...defaults,
    ...(temporalWorkflowsUrl !== undefined && { temporalWorkflowsUrl }),
  }),
});
