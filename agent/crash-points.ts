/**
 * The named points at which the daemon can be made to die, for the crash sweep. Each line says what a death there can
 * break. The keeper's points are comments in keeper.sh, turned into gates by the tests.
 */
export const CRASH_POINTS = {
  /** The request is read, nothing is written: the key must be unknown afterwards. */
  'before-reserve': true,
  /** The row is durable, no folder yet: must become void, never forgotten. */
  'after-reserve': true,
  /** The keeper is forked, whether it claims is open: one of the two wins. */
  'after-launch': true,
  /** `started` is seen, nobody has been told. */
  'after-started': true,
  /** The exit file is there, the terminal row is not: the exit must be read again. */
  'after-exit': true,
  /** The terminal row is durable, nobody has been told. */
  'before-answer': true,
  /** A fence is wanted and committed, the claim not taken yet: it must hold, or the command ran. */
  'before-fence-claim': true,
} as const;

export type CrashPoint = keyof typeof CRASH_POINTS;

/** Tests name a point, with `:n` for its n-th passing; unset in real use. */
const ARMED = process.env['LATCHKEY_CRASH_AT'];
let passings = 0;

export function crashPoint(point: CrashPoint): void {
  if (ARMED === undefined) return;
  const [name, count = '1'] = ARMED.split(':');
  if (name !== point) return;
  passings += 1;
  if (passings >= Number(count)) process.kill(process.pid, 'SIGKILL');
}
