/** The commands of a conversation: what begins with a slash. */
import { CodedError } from '../../contract/failures.ts';
import { operatorName } from '../calls/operator-name.ts';
import { requireModelName } from '../run/model-name.ts';
import { showAgent } from './agent-command.ts';
import { bind } from './bind-command.ts';
import { cancelCall, listCalls } from './calls-command.ts';
import type { CommandContext } from './command-context.ts';
import { edit } from './edit-command.ts';
import { requireThere } from './open-session.ts';
import { queue } from './queue-command.ts';

export interface ChatCommand {
  readonly name: string;
  readonly usage: string;
  readonly does: string;
  run(context: CommandContext, words: string): Promise<void> | void;
}

const COMMANDS: readonly ChatCommand[] = [
  {
    name: 'edit',
    usage: '/edit [N] [TEXT]',
    does: 'edit your last message, or your N-th: what follows it is replaced',
    run: edit,
  },
  {
    name: 'queue',
    usage: '/queue [delete N | promote N]',
    does: 'what waits; take one back, or put it in front',
    run: queue,
  },
  { name: 'calls', usage: '/calls', does: 'the calls of the turn that runs, or ran last', run: listCalls },
  {
    name: 'cancel',
    usage: '/cancel KEY',
    does: 'kill the command of one call (keys: /calls); the turn goes on with that result',
    run: cancelCall,
  },
  { name: 'agent', usage: '/agent', does: 'where the commands run, and how it is', run: showAgent },
  {
    name: 'bind',
    usage: '/bind [AGENT]',
    does: "bind the chat to an agent (default: this folder's), from the next turn on",
    run: bind,
  },
  { name: 'model', usage: '/model NAME', does: 'another model, from the next turn on', run: setModel },
  {
    name: 'interrupt',
    usage: '/interrupt',
    does: 'stop the turn that runs; what waits is answered next',
    run: interrupt,
  },
  { name: 'archive', usage: '/archive [off]', does: 'close the chat for messages, or open it again', run: archive },
  { name: 'help', usage: '/help', does: 'this list', run: help },
  { name: 'quit', usage: '/quit', does: 'leave; a turn that runs goes on (also Ctrl-D)', run: ({ leave }) => leave() },
];

/** Undefined: it is a message. `//` at the beginning stands for one slash of a message. */
export function parseCommand(text: string): { readonly command: ChatCommand; readonly words: string } | undefined {
  if (!text.startsWith('/') || text.startsWith('//')) return undefined;
  const [, name = '', words = ''] = /^\/(\S*)\s*([^]*)$/.exec(text) ?? [];
  const command = COMMANDS.find((known) => known.name === name);
  if (command !== undefined) return { command, words };
  const names = COMMANDS.map((known) => `/${known.name}`).join(' ');
  throw new CodedError(
    'configuration',
    `there is no command /${name}. There are: ${names}. A message may begin with //.`,
  );
}

export function toMessage(text: string): string {
  return text.startsWith('//') ? text.slice(1) : text;
}

export function completeCommand(line: string): string[] {
  if (!/^\/[a-z]*$/.test(line)) return [];
  return COMMANDS.map(({ name }) => `/${name} `).filter((command) => command.startsWith(line));
}

function help({ say }: CommandContext): void {
  const width = Math.max(...COMMANDS.map(({ usage }) => usage.length));
  for (const { usage, does } of COMMANDS) say(`  ${usage.padEnd(width)}  ${does}`);
  say('  A trailing \\ goes on in the next line. Ctrl-C interrupts the turn; twice leaves, and the turn goes on.');
}

async function setModel({ session, say }: CommandContext, words: string): Promise<void> {
  requireThere(session);
  if (words === '') throw new CodedError('configuration', 'which model? /model NAME', 'model');
  const { model } = await session.chats.bind(session.chatId, { model: requireModelName(words, {}) });
  say(`${model} answers from the next turn on`);
}

export async function interrupt({ session, mirror, say }: CommandContext): Promise<void> {
  const { turn } = mirror;
  if (mirror.state === 'idle' || turn === undefined) return say('no turn runs');
  const stopped = await session.chats.interrupt(session.chatId, { who: operatorName(undefined), turn });
  say(stopped.turn === undefined ? `turn ${turn} had ended already` : `turn ${turn} is being stopped`);
}

async function archive({ session, say }: CommandContext, words: string): Promise<void> {
  requireThere(session);
  if (words !== '' && words !== 'off') throw new CodedError('configuration', '/archive, or /archive off');
  const { isArchived } = await session.chats.archive(session.chatId, { isArchived: words === '' });
  say(isArchived ? 'archived: it takes no messages; /archive off opens it again' : 'open again');
}
