/** Program: builds what is shipped into dist/: JavaScript by tsc, and the files beside it that are not TypeScript. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const DIST = path.join(ROOT, 'dist');
/** The keeper's shell scripts, the page's markup, and the pins of the servers that tools/temporal fetches. */
const ASSETS = [
  'agent/**/*.sh',
  'gateway/page/*.{html,css,svg}',
  'tools/temporal/go.{mod,sum}',
  'tools/temporal/*.txt',
];

rmSync(DIST, { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
execFileSync('tsc', ['-p', 'gateway/page/tsconfig.build.json'], { cwd: ROOT, stdio: 'inherit' });
for (const file of globSync(ASSETS, { cwd: ROOT })) cpSync(path.join(ROOT, file), path.join(DIST, file));
