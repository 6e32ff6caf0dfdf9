import type { Environment } from './cache-folder.ts';

export interface SourceContext {
  readonly env: Environment;
  readonly onProgress: (line: string) => void;
}

/** An executable, or why this source has none. */
export type SourceAnswer = { readonly path: string } | { readonly reason: string };

/** One way to a server's executable. */
export interface ServerSource {
  /** As people read it in an error: "`temporal` on PATH". */
  readonly name: string;
  /** Looks at what is there: milliseconds, no network. */
  readonly look: (context: SourceContext) => Promise<SourceAnswer>;
  /** Downloads or builds it. Tried only when no source has one ready. */
  readonly make?: (context: SourceContext) => Promise<SourceAnswer>;
}

export interface FoundServer {
  readonly path: string;
  readonly source: string;
}

export type SearchEnd =
  | { readonly found: FoundServer }
  | { readonly found?: undefined; readonly reasons: readonly { readonly source: string; readonly reason: string }[] };

/**
 * Asks the sources in order. What is ready anywhere beats what would have to be fetched: a failing download costs
 * most of a second, and minutes where packets vanish, and must not be paid on every start once a server was built.
 */
export async function searchSources(sources: readonly ServerSource[], context: SourceContext): Promise<SearchEnd> {
  const reasons = new Map<string, string>();
  for (const phase of ['look', 'make'] as const) {
    for (const source of sources) {
      const ask = source[phase];
      if (ask === undefined) continue;
      const answer = await ask(context);
      if ('path' in answer) return { found: { path: answer.path, source: source.name } };
      reasons.set(source.name, answer.reason);
    }
  }
  return { reasons: sources.map(({ name }) => ({ source: name, reason: reasons.get(name) ?? 'not tried' })) };
}
