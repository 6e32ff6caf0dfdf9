import { isUsableToolCallId } from '../../contract/ids.ts';
import type { ToolCallId } from '../../contract/ids.ts';

/**
 * The ids under which a message's calls are stored: raw where they can be, filled (`call-<position>`) where a provider
 * gave none that can be used, told apart (`<id>~2`) where it gave one twice (A02, F04). Depends on nothing else.
 */
export function assignToolCallIds(rawIds: readonly unknown[]): readonly ToolCallId[] {
  // A made-up id must not take what a later call brings along.
  const raw = new Set(rawIds.filter(isUsableToolCallId));
  const taken = new Set<string>();
  return rawIds.map((rawId, position) => {
    const id = isUsableToolCallId(rawId) && !taken.has(rawId) ? rawId : makeUpId({ rawId, position, raw, taken });
    taken.add(id);
    return id as ToolCallId;
  });
}

interface MakeUpRequest {
  readonly rawId: unknown;
  readonly position: number;
  readonly raw: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
}

function makeUpId({ rawId, position, raw, taken }: MakeUpRequest): string {
  const isFree = (id: string): boolean => isUsableToolCallId(id) && !raw.has(id) && !taken.has(id);
  // With its suffix an id may have become too long; then it is filled.
  const base = isUsableToolCallId(rawId) && isUsableToolCallId(`${rawId}~9999`) ? rawId : `call-${position}`;
  if (isFree(base)) return base;
  let count = 2;
  while (!isFree(`${base}~${count}`)) count++;
  return `${base}~${count}`;
}
