/** How a build of the turn worker is named, for Worker Deployment Versioning. */

/** Not what the server splits names at (`.` and `:`), nor what it keeps for itself (`__…`), nor a quote: it goes into queries. */
export const DEPLOYMENT_NAME = /^(?!__)[A-Za-z0-9_-]{1,100}$/;
export const DEPLOYMENT_NAME_WORDS = '1 to 100 letters, digits, - or _';

export const BUILD_ID = /^[A-Za-z0-9._+-]{1,100}$/;
export const BUILD_ID_WORDS = '1 to 100 letters, digits, or any of . _ + -';

/** Set in the sandbox of a versioned worker's workflows: the server refuses the tasks of any other that name a behaviour. */
export const VERSIONED_WORKER_FLAG = 'latchkeyIsVersioned';
