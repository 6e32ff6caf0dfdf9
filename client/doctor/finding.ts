/** `missing` keeps Latchkey from working here; `note` is good to know. */
export type Verdict = 'ok' | 'note' | 'missing';

export interface Finding {
  readonly about: string;
  readonly verdict: Verdict;
  readonly detail: string;
  readonly nextStep?: string;
}
