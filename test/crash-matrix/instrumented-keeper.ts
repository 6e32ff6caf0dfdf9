/**
 * keeper.sh with its `# point:` comments turned into deaths and gates. Which key does what at which point comes with
 * the key's own environment (MATRIX=point:action:number), so one script serves them all. Only attempt 1 acts.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEEPER_POINTS } from '../../agent/crash-points.ts';

/** A write that stops half way, as by a full disk, followed by the death of whoever wrote. */
const TORN_WRITES: Readonly<Record<string, string>> = {
  'before-claim': ': > claim; kill -9 $$',
  'before-started': 'printf "%s " "$matrix_self" > "$folder/started"; kill -9 "$matrix_self"',
  'before-exit': 'printf "%s " "$code" 1<> exit; kill -9 $$',
};

export function writeInstrumentedKeeper(path: string, gates: string): void {
  let script = readFileSync(join(import.meta.dirname, '../../agent/keeper/keeper.sh'), 'utf8');
  for (const point of Object.keys(KEEPER_POINTS)) {
    const mark = `# point: ${point}\n`;
    if (script.split(mark).length !== 2) throw new Error(`keeper.sh must have exactly one "${mark.trim()}"`);
    const torn = TORN_WRITES[point];
    // By functions: in a replacement text `$$`, the keeper's pid, would stand for a single `$`.
    script = script.replace(mark, () => `matrix_at ${point}${torn === undefined ? '' : ` '${torn}'`}\n`);
  }
  const anchor = 'set -u\n';
  if (script.split(anchor).length !== 2) throw new Error(`keeper.sh must have exactly one "${anchor.trim()}"`);
  writeFileSync(
    path,
    script.replace(anchor, () => `${anchor}${functionFor(gates)}`),
    { mode: 0o700 },
  );
}

function functionFor(gates: string): string {
  return `
matrix_at() {
  case $folder in *.1) ;; *) return 0 ;; esac
  [ -n "\${matrix_plan+set}" ] || matrix_plan=$(sed -n 's/.*MATRIX=\\([a-z:0-9-]*\\).*/\\1/p' launch)
  case $matrix_plan in "$1":*) ;; *) return 0 ;; esac
  matrix_action=\${matrix_plan#*:}
  matrix_action=\${matrix_action%%:*}
  matrix_number=\${matrix_plan##*:}
  matrix_plan=done
  read -r matrix_self _ < /proc/self/stat
  printf '%s %s .\\n' "$matrix_self" "$$" > '${gates}/'"$matrix_number.reached"
  case $matrix_action in
    stand) read -r _ < '${gates}/'"$matrix_number" ;;
    keeper) kill -9 $$ ;;
    self) kill -9 "$matrix_self" ;;
    both) kill -9 $$ "$matrix_self" ;;
    torn) eval "$2" ;;
  esac
  # Still here: as it should be only at a gate, or when the keeper of this child was to die. Else nobody died at all.
  case $matrix_action-$matrix_self in
    stand-*) ;;
    keeper-$$) : > '${gates}/'"$matrix_number.survived" ;;
    keeper-*) ;;
    *) : > '${gates}/'"$matrix_number.survived" ;;
  esac
}
`;
}
