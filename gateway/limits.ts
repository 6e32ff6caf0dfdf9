/** What one gateway takes on, checked before anything is done. */

/** A message of 256 KiB, each byte of it escaped in JSON, and some more. */
export const BODY_BYTES_MAX = 2 * 1024 * 1024;
/** `useChat` sends the whole conversation with each message. */
export const UI_BODY_BYTES_MAX = 32 * 1024 * 1024;
export const CONNECTIONS_MAX = 5_000;
/** All tabs of all users behind one token. */
export const STREAMS_PER_TOKEN_MAX = 500;
export const STREAMS_MAX = 2_000;
/** Under the half minute after which proxies drop a silent connection. */
export const STREAM_BEAT_MS = 15_000;
/** What a browser waits before it comes back. */
export const STREAM_RETRY_MS = 1_000;
/**
 * For a request to arrive whole. Generous, since it also counts for a connection that was opened ahead and not used yet:
 * its next request would get 408 for an answer (seen with Node's fetch after half a minute).
 */
export const REQUEST_MS_MAX = 300_000;
/** Of one chat's workflow: an update waits for a turn worker. */
export const UPDATE_MS_MAX = 30_000;
export const LIST_ENTRIES_MAX = 200;
export const LIST_ENTRIES_DEFAULT = 50;
