import { userInfo } from 'node:os';

/** Who is told to have said so: `--who`, else the login name of whoever runs the command. */
export function operatorName(given: string | undefined): string {
  if (given !== undefined && given.trim() !== '') return given;
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry, as in some containers.
    return 'an operator';
  }
}
