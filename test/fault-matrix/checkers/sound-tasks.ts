import type { Evidence } from '../evidence.ts';

/** No workflow task failed: replay is deterministic, nothing is too large or malformed. */
export function soundTasks({ history }: Evidence): string[] {
  return history.failedTasks.filter((cause) => !isHarmless(cause)).map((cause) => `a workflow task failed: ${cause}`);
}

/** Something new came in while the task ran, so the server has it done again; or the test reset the workflow. */
function isHarmless(cause: string): boolean {
  return (
    /^cause (1|18)\b/.test(cause) ||
    /^cause (UNHANDLED_COMMAND|RESET_WORKFLOW|.*UnhandledCommand|.*ResetWorkflow)/.test(cause)
  );
}
