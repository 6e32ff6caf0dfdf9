import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** What a query runs on: the database itself, or a transaction of it. */
export type Database = Kysely<Schema>;
