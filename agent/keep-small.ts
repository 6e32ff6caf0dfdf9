/**
 * Asks V8 for a small process. Every command is a fork of the daemon, and a fork costs what its parent weighs (design
 * 5); the daemon's own JavaScript only hands on what the kernel does.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Resident after 200 commands and 64 at once: 122 MiB with V8's defaults, 99 with a small young generation, 77 without
 * the compilers, whose code and whose own pages are the rest. CPU time a command did not rise (docs/performance.md).
 */
const FLAGS = [
  '--semi-space-growth-factor=1',
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--no-opt',
  '--no-maglev',
  '--no-sparkplug',
];

/** To be called before the daemon's modules are loaded: loading them is what grows the young generation to 16 MB. */
export function keepSmall(): void {
  for (const flag of FLAGS) setFlagsFromString(flag);
}
