/** What the turn worker registers: workflows, and what becomes of their runs when another build becomes current. */
import { setWorkflowOptions } from '@temporalio/workflow';
import { VERSIONED_WORKER_FLAG } from '../contract/deployment.ts';
import { chat } from './chat.ts';
import { notice } from './notice.ts';
import { readOutput } from './read-output.ts';
import { settle } from './settle.ts';
import { sweep } from './sweep.ts';
import { turn } from './turn.ts';

if (VERSIONED_WORKER_FLAG in globalThis) {
  // A turn ends where it began, also after a continue-as-new: it is over in minutes or hours, and most changes of its
  // code would not replay.
  setWorkflowOptions({ versioningBehavior: 'PINNED' }, turn);
  // Over in seconds.
  setWorkflowOptions({ versioningBehavior: 'PINNED' }, readOutput);
  // These live for days, or wait for what may never come, so they must not keep an old build alive: they move at their
  // next task, and their code is only changed so that what was recorded replays (CONTRIBUTING.md).
  setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, chat);
  setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, notice);
  setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, settle);
  setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, sweep);
}

export { chat, notice, readOutput, settle, sweep, turn };
