/** Questions to the person. Each resolves when it is closed; the browser keeps focus inside and gives it back. */
import { requireElement, setText } from './elements.ts';

export async function confirmStop(): Promise<boolean> {
  return (await ask(requireElement('stop-dialog', HTMLDialogElement))) === 'ok';
}

/** Until there is one: without it the page can do nothing. */
export async function askToken(why: string): Promise<string> {
  const input = requireElement('token', HTMLInputElement);
  const reason = requireElement('token-why', HTMLElement);
  setText(reason, `${why.replace(/^./, (letter) => letter.toUpperCase())}.`);
  for (;;) {
    input.value = '';
    await ask(requireElement('token-dialog', HTMLDialogElement));
    const token = input.value.trim();
    // Another one can't be sent as a header.
    if (/^[\x21-\x7e]+$/.test(token)) return token;
    if (token !== '') setText(reason, 'A token is of ASCII characters without blanks.');
  }
}

export async function askNewChat(known: {
  readonly agentId?: string;
  readonly model?: string;
}): Promise<{ agentId: string; model: string } | undefined> {
  const agent = requireElement('new-agent', HTMLInputElement);
  const model = requireElement('new-model', HTMLInputElement);
  agent.value = known.agentId ?? '';
  model.value = known.model ?? '';
  if ((await ask(requireElement('new-dialog', HTMLDialogElement))) !== 'ok') return undefined;
  return { agentId: agent.value.trim(), model: model.value.trim() };
}

const openings = new WeakMap<HTMLDialogElement, number>();

function ask(dialog: HTMLDialogElement): Promise<string> {
  const opening = (openings.get(dialog) ?? 0) + 1;
  openings.set(dialog, opening);
  // One that was left by Escape keeps its last value otherwise.
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    const onClose = (): void => {
      // The event comes after the closing: whoever is quick has opened the dialog again by then, and it isn't that one's.
      if (dialog.open && openings.get(dialog) === opening) return;
      dialog.removeEventListener('close', onClose);
      resolve(dialog.open ? '' : dialog.returnValue);
    };
    dialog.addEventListener('close', onClose);
  });
}
