/**
 * Program, the yardstick of yardsticks: spawns `bash -c true` from a Node process that does nothing else. Reads one
 * line a request, `{"count": n, "isSideBySide": …}`; answers with one line, the milliseconds of each spawn.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

function spawnTrue(): Promise<number> {
  return new Promise((resolve, reject) => {
    const beganMs = performance.now();
    const child = spawn('bash', ['-c', 'true'], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', () => resolve(performance.now() - beganMs));
  });
}

async function spawnMany({ count, isSideBySide }: { count: number; isSideBySide: boolean }): Promise<number[]> {
  if (isSideBySide) return Promise.all(Array.from({ length: count }, spawnTrue));
  const samples: number[] = [];
  while (samples.length < count) samples.push(await spawnTrue());
  return samples;
}

process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const samples = await spawnMany(JSON.parse(line) as { count: number; isSideBySide: boolean });
  process.stdout.write(`${JSON.stringify(samples)}\n`);
}
