import { createEmptyDatabase, type TestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { run } from './run.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createEmptyDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  // The table of pg_cron 1.6, with two jobs.
  await client.query(`
    CREATE SCHEMA cron;
    CREATE TABLE cron.job (jobid bigserial PRIMARY KEY, schedule text NOT NULL, command text NOT NULL,
      nodename text NOT NULL DEFAULT 'localhost', nodeport int NOT NULL DEFAULT 5432,
      database text NOT NULL DEFAULT current_database(), username text NOT NULL DEFAULT current_user,
      active boolean NOT NULL DEFAULT true, jobname text);
    INSERT INTO cron.job (schedule, command, jobname) VALUES
      ('0 9 * * *', $$select net.http_post('https://example.com/report', '{"a": 1}')$$, 'report'),
      ('0 3 * * *', 'vacuum', 'vacuum')`)
  await client.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET cron.timezone = %L', current_database(), 'Asia/Tokyo'); END $$`,
  )
  await client.end()
})
afterAll(() => database?.drop())

it('reads the jobs and the time zone of a database', async () => {
  const { code, out, error } = await run(
    ['import', 'pg-cron', '--from', database.url, '--dry-run', '--skip-refused', '--json'],
    {},
  )
  expect([code, error]).toEqual([0, 'cron.job, vacuum: It runs SQL that is not one call of a URL.\n'])
  expect(JSON.parse(out)).toMatchObject({
    place: 'report',
    job: {
      name: 'report',
      cron: '0 9 * * *',
      timezone: 'Asia/Tokyo',
      url: 'https://example.com/report',
      payload: { a: 1 },
    },
  })
})
