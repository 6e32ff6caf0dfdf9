import type { ProcessIdentity } from './identity.ts';
import { signalGroupOf, signalProcess } from './signal-process.ts';

/**
 * Signals all members of a tree, by group where the whole group is the command's; gives those that were reached.
 *
 * A signal to a group is one step of the kernel's: nothing can fork its way past it, as it can past one signal for each
 * pid. A group may be signalled when it is in the command's session or when its leader is a member (A2); others get
 * their signals singly, because strangers could be in their group.
 */
export function signalMembers(
  members: readonly ProcessIdentity[],
  session: number | undefined,
  signal: NodeJS.Signals,
): ProcessIdentity[] {
  const reached: ProcessIdentity[] = [];
  for (const inGroup of Map.groupBy(members, (member) => member.group).values()) {
    const isOurs = inGroup.some((member) => member.session === session || member.pid === member.group);
    // The first that is still there vouches for the group. When none is, the next scan shows who moved on.
    if (isOurs && inGroup.some((witness) => signalGroupOf(witness, signal) === 'sent')) reached.push(...inGroup);
    else if (!isOurs) reached.push(...inGroup.filter((member) => signalProcess(member, signal) === 'sent'));
  }
  return reached;
}
