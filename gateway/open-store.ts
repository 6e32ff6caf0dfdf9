/** The one place where the gateway meets the store. It reads; the only row that it makes is an empty chat. */
export { openStore } from '../store/open-store.ts';
export type { StoredCall } from '../store/call-row.ts';
export type { Chat } from '../store/chats.ts';
export type { ChatFrame } from '../store/follow-chat.ts';
export type { ListedChat } from '../store/list-chats.ts';
export type { ListedMessage } from '../store/list-messages.ts';
export type { Store } from '../store/store.ts';
