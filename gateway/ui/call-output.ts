/** A call's result as a tool part shows it. */
import type { StoredCall } from '../open-store.ts';

type Resulted = Pick<StoredCall, 'status' | 'result' | 'exitCode' | 'handle'>;

/** What the model reads, and how it ended. */
export function outputOf({ status, result, exitCode, handle }: Resulted): object {
  return {
    status,
    text: result?.text ?? '',
    ...(exitCode !== undefined && { exitCode }),
    ...(handle !== undefined && { handle }),
  };
}

/** For a call that did not come to its end; a command that exits with another code than 0 has an output like any other. */
export function errorTextOf({ status, result }: Resulted): string | undefined {
  return result?.isError === true && status !== 'exited' ? result.text : undefined;
}
