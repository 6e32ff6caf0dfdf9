import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const PROGRAM = path.join(import.meta.dirname, '../../../tools/count-results.ts');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'latchkey-count-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function count(report: object): { line: string; exitCode: number | null } {
  const file = path.join(folder, 'report.json');
  writeFileSync(file, JSON.stringify(report));
  const run = spawnSync(process.execPath, [PROGRAM, file], { encoding: 'utf8' });
  return { line: run.stdout, exitCode: run.status };
}

const GOOD = {
  success: true,
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }] }],
};

test('a run without failures ends with its counts and exit code 0', () => {
  expect(count(GOOD)).toEqual({ line: '3 passed, 0 failed\n', exitCode: 0 });
});

test('skipped tests are told', () => {
  expect(count({ ...GOOD, numPendingTests: 2 }).line).toBe('3 passed, 0 failed, 2 skipped\n');
});

test('failed tests and files that could not be loaded are failures', () => {
  const testResults = [
    { status: 'failed', assertionResults: [{ status: 'failed' }] },
    { status: 'failed', assertionResults: [] },
  ];
  expect(count({ ...GOOD, success: false, numFailedTests: 1, testResults })).toEqual({
    line: '3 passed, 2 failed\n',
    exitCode: 1,
  });
});

test('a run that tested nothing is not a good one', () => {
  expect(count({ ...GOOD, numPassedTests: 0 }).exitCode).toBe(1);
});
