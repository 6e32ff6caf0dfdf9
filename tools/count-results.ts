/**
 * Program: the last line of a run, from the runner's own JSON report. Argument: the report's path.
 * Ends with 1 when anything failed, a file that could not be loaded included.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const reportSchema = z.object({
  success: z.boolean(),
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  numTodoTests: z.int(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});

const [reportPath] = process.argv.slice(2);
if (reportPath === undefined) throw new Error('usage: count-results REPORT.json');
const report = reportSchema.parse(JSON.parse(readFileSync(reportPath, 'utf8')));
// A file that fails outside its tests (a syntax error, a hook) has no failed test to count, and is one failure itself.
const failedFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
).length;
const failed = report.numFailedTests + failedFiles;
const skipped = report.numPendingTests + report.numTodoTests;
const counts = [`${report.numPassedTests} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
process.stdout.write(`${counts.join(', ')}\n`);
if (failed > 0 || !report.success || report.numPassedTests === 0) process.exitCode = 1;
