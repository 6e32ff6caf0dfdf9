import { Context } from '@temporalio/activity';

/** Beats per heartbeat time-out, so that one late beat doesn't end the attempt. */
const BEATS_PER_TIMEOUT = 4;

/** Beats by a timer while a model is silent or streams, and so hears of cancellation. Returns what stops it. */
export function startBeating(): () => void {
  const context = Context.current();
  const timeoutMs = context.info.heartbeatTimeoutMs;
  if (timeoutMs === undefined || timeoutMs === 0) return () => {};
  const timer = setInterval(() => context.heartbeat(), timeoutMs / BEATS_PER_TIMEOUT);
  context.heartbeat();
  return () => clearInterval(timer);
}
