/** The page: one list of chats, one chat that is open, named by the address. */
import { Api, sayFailure, UNREACHED } from './api.ts';
import { chatOfAddress, ChatsView, linkTo } from './chats-view.ts';
import { Composer } from './composer.ts';
import { askNewChat, askToken, confirmStop } from './dialogs.ts';
import { requireElement, setText } from './elements.ts';
import { OpenChat } from './open-chat.ts';
import { Outbox } from './outbox.ts';
import type { Settings } from './wire.ts';

const api = new Api(askToken);
const chats = new ChatsView(api, endUnreached);
const outbox = new Outbox(api, {
  onChange: () => open?.changed(),
  onTaken: (chatId) => chatId === open?.chatId && open.retry(),
});
const composer = new Composer((text, mode) => {
  if (open !== undefined) outbox.add({ chatId: open.chatId, text, mode });
});
let open: OpenChat | undefined;
let settings: Settings = {};
const settingsLoaded = loadSettings();

function showChatOfAddress(): void {
  const chatId = chatOfAddress();
  showSide(chatId === undefined);
  if (open?.chatId === chatId) return;
  open?.leave();
  open = chatId === undefined ? undefined : new OpenChat(chatId, { api, settings, composer, outbox });
  if (chatId === undefined) composer.close();
  else composer.focus();
  chats.show(chatId);
}

async function loadSettings(): Promise<void> {
  try {
    settings = await api.get<Settings>('/v1/settings');
  } catch (error) {
    sayProblem(error);
  }
}

async function beginChat(): Promise<void> {
  // Whoever is quicker than they are would be asked for what the gateway knows.
  await settingsLoaded;
  const { agentId, model } = settings;
  const isKnown = agentId !== undefined && model !== undefined;
  const asked = isKnown ? {} : await askNewChat(settings);
  if (asked === undefined) return;
  try {
    const { chat } = await api.post<{ chat: { chatId: string } }>('/v1/chats', asked);
    location.hash = linkTo(chat.chatId);
    void chats.refresh();
  } catch (error) {
    sayProblem(error);
  }
}

function sayProblem(error: unknown): void {
  const problem = requireElement('problem', HTMLElement);
  setText(problem, sayFailure(error));
  problem.hidden = false;
}

/** The gateway is there again. What an open chat could not do it knows itself. */
function endUnreached(): void {
  const problem = requireElement('problem', HTMLElement);
  if (open === undefined && problem.textContent === UNREACHED) problem.hidden = true;
}

/** On a narrow screen either the list or the chat is there. */
function showSide(isShown: boolean): void {
  document.body.dataset['shows'] = isShown ? 'chats' : 'chat';
  requireElement('show-chats', HTMLButtonElement).setAttribute('aria-expanded', String(isShown));
}

async function askToStop(): Promise<void> {
  // Another chat may be open by the time of the answer.
  const asked = open;
  if (await confirmStop()) await asked?.interrupt();
}

async function begin(): Promise<void> {
  const search = requireElement('search', HTMLInputElement);
  requireElement('new-chat', HTMLButtonElement).addEventListener('click', () => void beginChat());
  requireElement('skip', HTMLButtonElement).addEventListener('click', () => composer.focus());
  requireElement('stop', HTMLButtonElement).addEventListener('click', () => void open?.interrupt());
  requireElement('archive', HTMLButtonElement).addEventListener('click', () => {
    void open?.toggleArchived().then(() => chats.refresh());
  });
  requireElement('show-chats', HTMLButtonElement).addEventListener('click', () => {
    showSide(true);
    requireElement('new-chat', HTMLButtonElement).focus();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return;
    // There it has a meaning already.
    const isTaken = document.querySelector('dialog[open]') !== null || event.target === search;
    if (isTaken || open?.conversation.state !== 'running') return;
    // The same key would close the question that it opens.
    event.preventDefault();
    void askToStop();
  });
  requireElement('chat-list', HTMLUListElement).addEventListener('click', () => showSide(false));
  await settingsLoaded;
  addEventListener('hashchange', showChatOfAddress);
  showChatOfAddress();
  void outbox.send();
  await chats.reload();
}

await begin();
