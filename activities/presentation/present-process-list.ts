import { firstLine } from '../../contract/well-formed.ts';
import type { ListAnswer } from '../../contract/wire/list.ts';

const COMMAND_CHARACTERS_MAX = 200;

type Process = ListAnswer['processes'][number];

/** One line a process: handle, state, how long, command; then how many, and how to go on. */
export function presentProcessList(
  { processes: listed, next }: Pick<ListAnswer, 'processes' | 'next'>,
  { includeEnded }: { readonly includeEnded: boolean },
): string {
  // What never ran (a fence, a failed start) is no process.
  const processes = listed.filter(({ handle }) => handle !== undefined);
  const state = includeEnded ? '' : processes.length === 1 ? ' that has not ended' : ' that have not ended';
  const noun = processes.length === 1 ? 'process' : 'processes';
  const order = processes.length > 1 ? ', oldest first' : '';
  const count = `${processes.length === 0 ? 'no' : processes.length} ${noun} of this chat${state}${order}`;
  const more = next === undefined ? [] : [`[there are more: ask again with after: ${JSON.stringify(next)}]`];
  return [...processes.map(presentProcess), `[${count}]`, ...more].join('\n');
}

function presentProcess(process: Process): string {
  const { handle, command, background } = process;
  const kind = background ? ' (background)' : '';
  return `${handle}  ${presentState(process)}${kind}  $ ${firstLine(command, COMMAND_CHARACTERS_MAX)}`;
}

function presentState({ state, exit, ageMs }: Process): string {
  if (exit !== undefined) {
    const signal = exit.signal === undefined ? '' : ` (${exit.signal})`;
    return `${state} with code ${exit.code}${signal} after ${seconds(exit.durationMs)}`;
  }
  return ageMs === undefined ? state : `${state}, started ${seconds(ageMs)} ago`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
