/** The versions of the schema, oldest first. A migration that was released is never changed: add another one. */
import { PostgresAdapter, sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { CHANGES_CHANNEL } from './postgres/change-hints.ts';

const firstTables: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await createChatTables(db);
    await createMessageTables(db);
    await createCallTables(db);
    await db.schema
      .createTable('stream_events')
      .addColumn('chat_id', 'text', (column) => column.notNull())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('part_of', 'text')
      .addColumn('payload', 'text', (column) => column.notNull())
      .addColumn('at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('stream_events_pk', ['chat_id', 'seq'])
      .execute();
  },
};

async function createChatTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('chats')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('highest_message_id', 'bigint', (column) => column.notNull())
    .addColumn('active_turn', 'integer')
    .addColumn('last_turn', 'integer', (column) => column.notNull())
    .addColumn('last_error_code', 'text')
    .addColumn('last_error_message', 'text')
    .addColumn('last_event_seq', 'bigint', (column) => column.notNull())
    .addColumn('last_queue_position', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('turns')
    .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('agent_id', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('error_code', 'text')
    .addColumn('error_message', 'text')
    .addColumn('started_at', 'text')
    .addColumn('ended_at', 'text')
    .addPrimaryKeyConstraint('turns_pk', ['chat_id', 'turn'])
    .execute();
}

async function createMessageTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('queued_messages')
    .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
    .addColumn('client_message_id', 'text', (column) => column.notNull())
    .addColumn('position', 'bigint', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('turn', 'integer')
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('queued_messages_pk', ['chat_id', 'client_message_id'])
    .execute();
  await db.schema
    .createTable('messages')
    .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
    .addColumn('id', 'bigint', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('step', 'integer')
    .addColumn('client_message_id', 'text')
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('hidden', 'integer', (column) => column.notNull())
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('messages_pk', ['chat_id', 'id'])
    .execute();
}

async function createCallTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('steps')
    .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('step', 'integer', (column) => column.notNull())
    .addColumn('message_id', 'bigint')
    .addColumn('nonce', 'text')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempt_token', 'text')
    .addColumn('attempt_scheduled_ms', 'bigint', (column) => column.notNull())
    .addColumn('has_parts', 'integer', (column) => column.notNull())
    .addColumn('usage', 'text')
    .addColumn('at', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('steps_pk', ['chat_id', 'turn', 'step'])
    .execute();
  await db.schema
    .createTable('calls')
    .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('message_id', 'bigint', (column) => column.notNull())
    .addColumn('turn', 'integer', (column) => column.notNull())
    .addColumn('position', 'integer', (column) => column.notNull())
    .addColumn('tool_call_id', 'text', (column) => column.notNull())
    .addColumn('tool_name', 'text', (column) => column.notNull())
    .addColumn('arguments', 'text', (column) => column.notNull())
    .addColumn('request', 'text')
    .addColumn('nonce', 'text', (column) => column.notNull())
    .addColumn('summary', 'text', (column) => column.notNull())
    .addColumn('agent_id', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('target', 'text')
    .addColumn('evidence', 'text')
    .addColumn('outcome', 'text')
    .addColumn('result_text', 'text')
    .addColumn('is_error', 'integer')
    .addColumn('handle', 'text')
    .addColumn('exit_code', 'integer')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('resolved_at', 'text')
    .addPrimaryKeyConstraint('calls_pk', ['chat_id', 'key'])
    .addUniqueConstraint('calls_by_message', ['chat_id', 'message_id', 'position'])
    .execute();
}

const lateTruths: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.alterTable('calls').addColumn('settled_at', 'text').execute();
    await db.schema.createIndex('calls_by_status').on('calls').column('status').execute();
    await db.schema
      .createTable('notes')
      .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
      .addColumn('position', 'bigint', (column) => column.notNull())
      .addColumn('after_message_id', 'bigint', (column) => column.notNull())
      .addColumn('key', 'text', (column) => column.notNull())
      .addColumn('text', 'text', (column) => column.notNull())
      .addColumn('at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('notes_pk', ['chat_id', 'position'])
      .execute();
  },
};

const retiredAgents: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('retired_agents')
      .addColumn('agent_id', 'text', (column) => column.primaryKey())
      .addColumn('who', 'text', (column) => column.notNull())
      .addColumn('why', 'text', (column) => column.notNull())
      .addColumn('at', 'text', (column) => column.notNull())
      .execute();
  },
};

const chatEntities: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.alterTable('chats').addColumn('title', 'text').execute();
    await db.schema.alterTable('chats').addColumn('model', 'text').execute();
    await db.schema
      .alterTable('chats')
      .addColumn('epoch', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('chats').addColumn('archived_at', 'text').execute();
    await db.schema
      .alterTable('chats')
      .addColumn('updated_at', 'text', (column) => column.notNull().defaultTo(''))
      .execute();
    await sql`update chats set updated_at = created_at`.execute(db);
    await db.schema.createIndex('chats_by_update').on('chats').columns(['updated_at', 'id']).execute();
    await db.schema
      .alterTable('turns')
      .addColumn('epoch', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('messages').addColumn('summarized_by', 'bigint').execute();
  },
};

const streamRetention: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .alterTable('chats')
      .addColumn('events_pruned_through', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute();
    // Parts are found by their step; nearly all rows have none.
    await db.schema.createIndex('stream_events_by_part').on('stream_events').columns(['chat_id', 'part_of']).execute();
    if (db.getExecutor().adapter instanceof PostgresAdapter) await notifyOfEvents(db);
  },
};

/** Tells who listens, with the commit, which chat has new events (postgres/change-hints.ts). */
async function notifyOfEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function notify_chat_events() returns trigger language plpgsql as $$
    begin
      perform pg_notify('${sql.raw(CHANGES_CHANNEL)}', new.id);
      return null;
    end $$`.execute(db);
  await sql`
    create trigger chat_events after update of last_event_seq on chats
    for each row execute function notify_chat_events()`.execute(db);
}

const queueClaims: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema.alterTable('queued_messages').addColumn('message_id', 'bigint').execute();
    await db.schema.alterTable('queued_messages').addColumn('deleted_at', 'text').execute();
    await db.schema.alterTable('queued_messages').addColumn('edit_epoch', 'integer').execute();
    await sql`
      update queued_messages set message_id = (
        select min(messages.id) from messages
        where messages.chat_id = queued_messages.chat_id
          and messages.client_message_id = queued_messages.client_message_id
      ) where turn is not null`.execute(db);
    await db.schema
      .createIndex('queued_messages_untaken')
      .on('queued_messages')
      .columns(['chat_id', 'message_id', 'position'])
      .execute();
  },
};

const compactions: Migration = {
  up: async (db: Kysely<unknown>): Promise<void> => {
    await db.schema
      .createTable('compactions')
      .addColumn('chat_id', 'text', (column) => column.notNull().references('chats.id'))
      .addColumn('turn', 'integer', (column) => column.notNull())
      .addColumn('number', 'integer', (column) => column.notNull())
      .addColumn('message_id', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempt_token', 'text')
      .addColumn('attempt_scheduled_ms', 'bigint', (column) => column.notNull())
      .addColumn('seen_message_id', 'bigint')
      .addColumn('at', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('compactions_pk', ['chat_id', 'turn', 'number'])
      .execute();
  },
};

export const MIGRATIONS: Record<string, Migration> = {
  '0001-first-tables': firstTables,
  '0002-late-truths': lateTruths,
  '0003-retired-agents': retiredAgents,
  '0004-chat-entities': chatEntities,
  '0005-stream-retention': streamRetention,
  '0006-queue-claims': queueClaims,
  '0007-compactions': compactions,
};
