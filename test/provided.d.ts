import 'vitest';

declare module 'vitest' {
  /** What test/global-setup.ts starts once for the whole run; read with `inject('temporalAddress')`. */
  export interface ProvidedContext {
    readonly temporalAddress: string;
    readonly temporalNamespace: string;
    /** Empty when the server is the user's (TEMPORAL_ADDRESS): its UI is not known. */
    readonly temporalUiUrl: string;
    /** For Worker's `workflowBundle: { codePath }`. */
    readonly workflowBundlePath: string;
    /** Of the project `postgres` only: a database to make others from. Empty where there is no PostgreSQL. */
    readonly postgresUrl: string;
  }
}
