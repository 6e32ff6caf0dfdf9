/** What the turn worker registers: workflows, and nothing else. */
export { turn } from './turn.ts';
