import type { TestProject } from 'vitest/node';
import { openStore } from '../store/open-store.ts';
import { findPostgresPrograms, startPostgres } from './fixtures/postgres-cluster.ts';

/** One PostgreSQL server for the whole run, with a migrated database that each test's own is copied from. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const programs = findPostgresPrograms();
  if (programs === undefined) {
    process.stderr.write('SKIPPED: no PostgreSQL programs were found (Debian: apt-get install postgresql)\n');
    project.provide('postgresUrl', '');
    return async () => undefined;
  }
  const cluster = await startPostgres(programs);
  try {
    const store = await openStore(cluster.url('template1'));
    await store.close();
    project.provide('postgresUrl', cluster.url('postgres'));
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster.stop;
}
