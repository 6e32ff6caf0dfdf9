/** What the worker programs share: signals, one clear line for what goes wrong, an exit code. */
import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { LogLevel, LogMetadata } from '@temporalio/worker';

/**
 * Runs `program` until it ends. SIGTERM and SIGINT abort `stopping`: Workers let go of their commands (C6); a second
 * one ends the process at once. Ends the process itself, since a failed Worker may keep it alive for ever (A12).
 */
export async function runProgram(name: string, program: (stopping: AbortSignal) => Promise<void>): Promise<never> {
  const stopping = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort(new Error(`stopped by ${signal}`));
    });
  }
  // Its own handlers would take the signals while no Worker runs yet, and the process would not end.
  Runtime.install({ shutdownSignals: [], logger: new QuietLogger('WARN') });
  try {
    await program(stopping.signal);
    process.exit(0);
  } catch (error) {
    if (stopping.signal.aborted && error === stopping.signal.reason) process.exit(0);
    process.stderr.write(`${name}: ${describe(error)}\n`);
    process.exit(1);
  }
}

/** Warnings and worse, but for the one that says what an execute worker is: it has no workflows. */
class QuietLogger extends DefaultLogger {
  override log(level: LogLevel, message: string, meta?: LogMetadata): void {
    if (!message.startsWith('No workflows registered')) super.log(level, message, meta);
  }
}

function describe(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ');
}
