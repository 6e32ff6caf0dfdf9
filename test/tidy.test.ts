import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as limits from '../contract/limits.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDERS =
  'contract client gateway workflows activities workers agent agent-client store tools test demo bench'.split(' ');
/** The agreement lies beside the checkout where this is developed, and nowhere else. */
const SHARED = path.join(ROOT, '..', 'shared');
const README_LINES_MAX = 10;

const sources = globSync([...FOLDERS.map((folder) => `${folder}/**/*.{ts,sh}`), '*.ts', '.ci/*'], { cwd: ROOT })
  .filter((file) => path.basename(file) !== 'tidy.test.ts')
  .toSorted()
  .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
const testFiles = sources.filter(({ file }) => file.endsWith('.test.ts'));

/** `file:line` of each match, so that a failure says where to look. */
function findAll(pattern: RegExp, files = sources): string[] {
  return files.flatMap(({ file, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => [...line.matchAll(pattern)].map((match) => `${file}:${index + 1}: ${match[0]}`)),
  );
}

describe('the sources', () => {
  test('hold no marks of unfinished work', () => {
    expect(findAll(/\b(TODO|FIXME|XXX|HACK)\b/g)).toEqual([]);
  });

  test('name no folder of the machine they were written on, and no registry', () => {
    expect(findAll(/(?<![\w.])\/(root|work|home\/\w+)\/|proxy\.golang\.org|registry\.npmjs|pypi\.org/g)).toEqual([]);
  });

  test('are in files and folders with a subject of their own', () => {
    const vague = /(^|\/)(utils?|helpers?|common|types)(\.ts$|\/)/;
    expect(sources.filter(({ file }) => vague.test(file)).map(({ file }) => file)).toEqual([]);
  });

  test('have kebab-case names', () => {
    const names = sources.map(({ file }) => file).filter((file) => !file.startsWith('.ci/'));
    expect(names.filter((file) => !/^([a-z0-9.-]+\/)*[a-z0-9-]+(\.[a-z0-9-]+)*\.(ts|sh)$/.test(file))).toEqual([]);
  });
});

describe('the limits', () => {
  test('carry their unit in their name', () => {
    const unit = /(^|_)(MS|SECONDS|BYTES|CHARACTERS|ENTRIES|CALLS|MESSAGES|COUNT)(_|$)/;
    expect(Object.keys(limits).filter((name) => !unit.test(name))).toEqual([]);
  });

  test('are positive whole numbers', () => {
    expect(Object.entries(limits).filter(([, value]) => !Number.isSafeInteger(value) || value <= 0)).toEqual([]);
  });
});

describe('each folder', () => {
  for (const folder of FOLDERS.filter((name) => sources.some(({ file }) => file.startsWith(`${name}/`)))) {
    test(`${folder}/ has a README of at most ${README_LINES_MAX} lines`, () => {
      const readme = path.join(ROOT, folder, 'README.md');
      expect(existsSync(readme), `${folder}/README.md`).toBe(true);
      expect(readFileSync(readme, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
    });
  }
});

/** Numbers that begin a test's title, up to the colon: `'A01, K4: …'`. */
function claimedNumbers(): { number: string; file: string }[] {
  const title = /\b(?:test|it|describe)(?:\.\w+(?:\([^)]*\))?)*\(\s*['"`]((?:[A-IKLRST]\d{1,2}(?:, )?)+)(?: part)?:/g;
  return testFiles.flatMap(({ file, text }) =>
    [...text.matchAll(title)].flatMap((match) => (match[1] ?? '').split(', ').map((number) => ({ number, file }))),
  );
}

describe('the invariants', () => {
  const architecture = path.join(ROOT, 'ARCHITECTURE.md');

  test.skipIf(!existsSync(architecture))('that comments and titles cite are all in ARCHITECTURE.md', () => {
    const known = new Set(readFileSync(architecture, 'utf8').match(/\b[KCTSA]\d\b/g));
    // Only one digit and only in comments and titles: `A01` is an acceptance number, `S3` in code is a store.
    const cited = findAll(/(?<=(?:\/\/|^\s*\*|\/\*\*|test\().*)\b[KCTSA]\d\b/g);
    expect(cited.filter((citation) => !known.has(citation.slice(-2)))).toEqual([]);
  });
});

describe.skipIf(!existsSync(SHARED))('the agreement (skipped where ../shared is not there)', () => {
  test('knows every number that a test claims', () => {
    const known = new Set([
      ...namesIn('acceptance.md', /^- ([A-I]\d{2})\b/gm),
      ...namesIn('cases/bug-reports.md', /^### (R\d+)/gm),
      ...namesIn('cases/interleavings.md', /^\| (L\d{2})/gm),
      ...namesIn('design.md', /^- \*\*([KCTSA]\d)\*\*/gm),
    ]);
    const unknown = claimedNumbers().filter(({ number }) => !known.has(number.replace(/^R0/, 'R')));
    expect(unknown.map(({ number, file }) => `${file}: ${number}`)).toEqual([]);
  });

  test.skipIf(!existsSync(path.join(ROOT, 'ARCHITECTURE.md')))('has no invariant that ARCHITECTURE.md omits', () => {
    const told = new Set(readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8').match(/\b[KCTSA]\d\b/g));
    expect(namesIn('design.md', /^- \*\*([KCTSA]\d)\*\*/gm).filter((name) => !told.has(name))).toEqual([]);
  });
});

function namesIn(file: string, pattern: RegExp): string[] {
  const text = readFileSync(path.join(SHARED, file), 'utf8');
  return [...text.matchAll(pattern)].flatMap((match) => match[1] ?? []);
}
