/** Everything that is served, but for the health check and the document itself. */
import { callOutputRoute, cancelCallRoute, listCallsRoute, showCallRoute } from './calls.ts';
import { archiveChatRoute, bindChatRoute, createChatRoute, interruptRoute, showChatRoute } from './chats.ts';
import { eventsRoute } from './events.ts';
import { listChatsRoute, listMessagesRoute } from './lists.ts';
import {
  deleteQueuedRoute,
  editMessageRoute,
  listQueueRoute,
  promoteQueuedRoute,
  sendMessageRoute,
} from './messages.ts';
import type { Route } from './route.ts';
import { settingsRoute } from './settings.ts';
import { resumeUiStreamRoute, sendUiMessageRoute, showUiMessagesRoute } from './ui.ts';

export const ROUTES: readonly Route[] = [
  settingsRoute,
  createChatRoute,
  listChatsRoute,
  showChatRoute,
  bindChatRoute,
  archiveChatRoute,
  interruptRoute,
  sendMessageRoute,
  listMessagesRoute,
  editMessageRoute,
  listQueueRoute,
  deleteQueuedRoute,
  promoteQueuedRoute,
  listCallsRoute,
  showCallRoute,
  callOutputRoute,
  cancelCallRoute,
  eventsRoute,
  sendUiMessageRoute,
  resumeUiStreamRoute,
  showUiMessagesRoute,
];
