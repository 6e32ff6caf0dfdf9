/** What the turn worker registers: workflows, and nothing else. */
export { notice } from './notice.ts';
export { settle } from './settle.ts';
export { sweep } from './sweep.ts';
export { turn } from './turn.ts';
