/**
 * What comes with one workflow task is a set, not a sequence: an update is given to the workflow before a completion that
 * is earlier in history. Its handler files a request, which unblocks a waiting condition at once; the completion needs
 * some microtasks more, or fewer. So whoever decides between a request and evidence must hear all of the set first.
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
