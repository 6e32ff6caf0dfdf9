/** What may be sent to a process; others are refused by name (B08). */
export const SIGNALS = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGKILL',
  'SIGUSR1',
  'SIGUSR2',
  'SIGTERM',
  'SIGCONT',
  'SIGSTOP',
] as const;
export type SignalName = (typeof SIGNALS)[number];
