/** The kinds of history that are recorded and replayed: one file each. */
import { chatted } from './kinds/chatted.ts';
import { continuedAsNew } from './kinds/continued-as-new.ts';
import { crashRetried } from './kinds/crash-retried.ts';
import { interrupted } from './kinds/interrupted.ts';
import type { Kind } from './kinds/kind.ts';
import { noticed } from './kinds/noticed.ts';
import { plain } from './kinds/plain.ts';
import { read } from './kinds/read.ts';
import { resolved } from './kinds/resolved.ts';
import { settled } from './kinds/settled.ts';
import { swept } from './kinds/swept.ts';

export const KINDS: readonly Kind[] = [
  plain,
  crashRetried,
  interrupted,
  continuedAsNew,
  resolved,
  settled,
  swept,
  noticed,
  chatted,
  read,
];
