import { readFileSync } from 'node:fs';

/** Of the package that this file belongs to. */
export function readVersion(): string {
  // Built code lies one folder deeper than the source.
  const place = import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json';
  return (JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as { version: string }).version;
}
