/**
 * What came with one workflow task is a set, not a sequence: an update and a completion that is earlier in history are
 * given to the workflow in one order when they happen and in the other one in a replay (SDK 1.24, met by the random
 * conversations: the chat was wedged by a nondeterminism error). A handler files its request, which unblocks a waiting
 * condition at once; the completion needs some microtasks more, or fewer. So whoever decides between a request and
 * evidence must hear all of the set first.
 */
import { condition } from '@temporalio/workflow';

/**
 * Resolves when everything that was given to the workflow together has been taken in, with all its microtasks: the
 * runtime looks at a condition that is new only after those. Issues no command, so it costs no history.
 */
export async function allHeard(): Promise<void> {
  let isAsked = false;
  await condition(() => {
    const wasAsked = isAsked;
    isAsked = true;
    return wasAsked;
  });
}
