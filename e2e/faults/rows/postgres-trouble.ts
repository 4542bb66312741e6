import pg from 'pg'
import { faultUnderLoad, slowTask } from '../fault-under-load.ts'
import { demandPosts } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { load } from '../fixture/load.ts'
import { burst, called, lasting, untilInState } from '../fixture/moments.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

const latenessMs = 60_000

/** PostgreSQL is there and does not work as it should. */
export const postgresTrouble: Row[] = [
  {
    id: 'F47',
    fault: 'pg_terminate_backend of random connections, each second',
    moment: 'load',
    expected: 'POST is answered with 201 or 503; no outcome is lost, none is written twice',
    async run(fixture, seed) {
      await fixture.startAll()
      const loading = load(fixture, { tasks: 200, spreadMs: 15_000, seed })
      for (let i = 0; i < 18; i++) {
        await fixture.sql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE backend_type = 'client backend' AND application_name <> 'fixture' ORDER BY random() LIMIT 3`,
        )
        await lasting(1_000)
      }
      await loading
      demandPosts(fixture, 201, 503)
      return { latenessMs }
    },
  },
  faultUnderLoad({
    id: 'F48',
    fault: 'Postgres is a black hole for 60 s',
    moment: 'M5',
    expected: 'statements time out, connections are made anew; repeated at most what was in flight',
    tasks: { tasks: 100, spreadMs: 20_000 },
    calls: 30,
    async strike(fixture) {
      await fixture.postgres.proxy.set({ does: 'black_hole' })
      await fixture.charges.all('PostgreSQL became a black hole')
      await lasting(60_000)
      await fixture.postgres.proxy.set({ does: 'pass' })
      return { latenessMs: 60_000 + latenessMs }
    },
  }),
  {
    id: 'S43',
    fault: 'the synchronous standby is away for 20 s',
    moment: 'M2, commits in flight',
    expected: 'a claim whose answer is late is recognized: attempt 1 is sent, once, and no attempt is lost',
    async run(fixture) {
      await fixture.startAll()
      for (let i = 0; i < 20; i++) await fixture.create({ path: '/waits', inMs: 3_000 })
      await setStandby(fixture, 'nowhere')
      await lasting(20_000)
      fixture.demand(fixture.target.count('/waits') === 0, 'A task was called before its claim was committed.')
      await setStandby(fixture, '')
      await untilInState(fixture, ['success'], 20, 60_000)
      const lost = await fixture.count(`runs WHERE status = 'failed'`)
      fixture.demand(lost === 0, `${lost} attempts were lost.`)
      return { latenessMs }
    },
  },
  {
    id: 'F49',
    fault: 'Postgres becomes read-only for 10 s',
    moment: 'A2, M5',
    expected: 'POST is answered with 503; outcomes are kept and recorded afterwards; nothing repeated',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 20, slowTask)
      await burst(fixture, 20, { inMs: 6_000, path: '/later' })
      await called(fixture, 20)
      await setReadOnly(fixture, 'on')
      const refused = await fixture.create({ path: '/refused' })
      fixture.demand(refused.status === 503, `The POST was answered with ${refused.status}.`)
      await lasting(10_000)
      await setReadOnly(fixture, 'off')
      return { latenessMs }
    },
  },
  {
    id: 'F50',
    fault: 'another session holds the lock of a task for 30 s',
    moment: 'M1, M5',
    expected: 'the other tasks are done; nothing repeated',
    async run(fixture, seed) {
      await fixture.startAll()
      const held = await fixture.create({
        path: '/held-after',
        inMs: 2_500,
        answers: [{ status: 200, delayMs: 800 }],
        timeoutMs: 5_000,
      })
      const early = await fixture.create({ path: '/held-before', inMs: 6_000 })
      await load(fixture, { tasks: 150, startInMs: 3_000, spreadMs: 20_000, seed })
      await fixture.target.reached('/held-after', 1)
      const client = new pg.Client({ connectionString: fixture.postgres.url })
      await client.connect()
      await client.query('BEGIN')
      const ids = [held.id, early.id].map(id => uuidOf(id ?? ''))
      await client.query('SELECT 1 FROM tasks WHERE id = ANY ($1::uuid[]) FOR UPDATE', [ids])
      await lasting(30_000)
      const open = await fixture.count(`tasks WHERE state IN ('pending', 'processing') AND NOT id = ANY ($1::uuid[])`, [
        ids,
      ])
      fixture.demand(open === 0, `${open} other tasks had not been done while the lock was held.`)
      await client.query('ROLLBACK')
      await client.end()
      return { latenessMs: 40_000 }
    },
  },
  {
    id: 'F51',
    fault: 'one statement in ten fails with a deadlock or a serialization failure',
    moment: 'claims, records, inserts',
    expected: 'repeated by us; POST is answered with 201 or 503; nothing lost',
    async run(fixture, seed) {
      await fixture.sql(`
        CREATE FUNCTION fixture.fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF random() < 0.05 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40P01'; END IF;
          IF random() < 0.05 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
          RETURN NULL;
        END $$`)
      await fixture.sql(
        `CREATE TRIGGER fail AFTER INSERT OR UPDATE ON tasks FOR EACH STATEMENT EXECUTE FUNCTION fixture.fail()`,
      )
      await fixture.startAll()
      await load(fixture, { tasks: 200, seed })
      demandPosts(fixture, 201, 503)
      return { latenessMs: 10_000 }
    },
  },
  {
    id: 'F52',
    fault: 'a migration while running: a new column, an index made concurrently',
    moment: 'load',
    expected: 'nothing lost, no POST refused',
    async run(fixture, seed) {
      await fixture.startAll()
      const loading = load(fixture, { tasks: 200, seed })
      await called(fixture, 20)
      await fixture.sql('ALTER TABLE tasks ADD COLUMN added_later text')
      await fixture.sql('ALTER TABLE runs ADD COLUMN added_later text')
      await fixture.sql('CREATE INDEX CONCURRENTLY added_later_idx ON tasks (added_later)')
      await loading
      demandPosts(fixture, 201)
      return { latenessMs: 10_000 }
    },
  },
]

async function setReadOnly(fixture: Fixture, value: 'on' | 'off'): Promise<void> {
  // The setting applies to the fixture's own connection too. ALTER SYSTEM works on a read-only connection.
  await fixture.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
  await fixture.sql('SELECT pg_reload_conf()')
}

async function setStandby(fixture: Fixture, names: string): Promise<void> {
  await fixture.sql(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
  await fixture.sql('SELECT pg_reload_conf()')
}
