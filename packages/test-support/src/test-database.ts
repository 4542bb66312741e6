import { randomBytes } from 'node:crypto'
import { createDatabase, execute } from './template-database.ts'
import { testServers } from './test-servers.ts'

export type TestDatabase = {
  url: string
  /** Removes the database despite open connections. */
  drop(): Promise<void>
}

export type BorrowedDatabase = {
  url: string
  /** Allows the next test of this worker to empty and use the database. */
  giveBack(): void
}

/** Creates a migrated database for one test. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create()
}

/** Creates an empty database for one test. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create('template0')
}

const unused: string[] = []

/**
 * Returns a migrated database with the rows of the migrations only, which earlier tests of this worker have used. A test that
 * changes more than rows, or that reads plans, creates its own database.
 */
export async function borrowTestDatabase(): Promise<BorrowedDatabase> {
  let url = unused.pop()
  if (url) await execute(url, removeRows)
  else {
    url = (await createTestDatabase()).url
    await execute(url, keepRows)
  }
  const borrowed = url
  return { url, giveBack: () => void unused.push(borrowed) }
}

const tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`

// The migrations store rows in a few tables.
const keepRows = `
  CREATE SCHEMA migrated;
  DO $$ DECLARE name text; has_rows boolean; BEGIN
    FOR name IN ${tables} LOOP
      EXECUTE format('SELECT EXISTS (SELECT FROM public.%I)', name) INTO has_rows;
      IF has_rows THEN EXECUTE format('CREATE TABLE migrated.%1$I AS TABLE public.%1$I', name); END IF;
    END LOOP;
  END $$`

// Without triggers and foreign keys. A deletion is faster than TRUNCATE, which makes new files, unless there are many rows.
const removeRows = `
  SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$ DECLARE name text; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR name IN ${tables} LOOP
      IF pg_table_size(format('public.%I', name)) > 1000000 THEN EXECUTE format('TRUNCATE public.%I CASCADE', name);
      ELSE EXECUTE format('DELETE FROM public.%I', name);
      END IF;
    END LOOP;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'migrated' LOOP
      EXECUTE format('INSERT INTO public.%1$I TABLE migrated.%1$I', name);
    END LOOP;
  END $$`

async function create(template?: string): Promise<TestDatabase> {
  const { postgresUrl } = testServers()
  const name = `test_${randomBytes(8).toString('hex')}`
  return {
    url: await createDatabase(postgresUrl, name, template),
    async drop() {
      await execute(postgresUrl, waitForSessions(name))
      await execute(postgresUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

// `pool.end()` resolves before PostgreSQL has ended the sessions, and a session that is terminated sends an error, which
// may have no listener any more. Those that a test leaves open on purpose are waited for as well, so it takes at most a second.
const waitForSessions = (name: string) => `
  DO $$ BEGIN
    FOR i IN 1..100 LOOP
      PERFORM pg_stat_clear_snapshot();
      EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = '${name}');
      PERFORM pg_sleep(0.01);
    END LOOP;
  END $$`
