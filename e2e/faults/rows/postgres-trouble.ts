import pg from 'pg'
import { load } from '../bench/load.ts'
import { burst, called, lasting } from '../bench/moments.ts'
import { uuidOf } from '../bench/task-uuid.ts'
import type { Row } from '../row.ts'

const latenessMs = 60_000

/** A PostgreSQL that is there and does not do what it should. */
export const postgresTrouble: Row[] = [
  {
    id: 'F47',
    fault: 'pg_terminate_backend of random connections, each second',
    moment: 'load',
    expected: 'POST is answered with 201 or 503; no outcome is lost, none is written twice',
    async run(bench, seed) {
      await bench.startAll()
      const loading = load(bench, { tasks: 200, spreadMs: 15_000, seed })
      for (let i = 0; i < 18; i++) {
        await bench.sql(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE backend_type = 'client backend' AND application_name <> 'bench' ORDER BY random() LIMIT 3`,
        )
        await lasting(1_000)
      }
      await loading
      const others = bench.creates.filter(({ status }) => status !== 201 && status !== 503)
      bench.demand(others.length === 0, `POSTs were answered with ${others.map(({ status }) => status).join()}.`)
      return { latenessMs }
    },
  },
  {
    id: 'F48',
    fault: 'Postgres is a black hole for 60 s',
    moment: 'M5',
    expected: 'statements time out, connections are made anew; as F43',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 100, spreadMs: 20_000, seed })
      await called(bench, 30)
      await bench.postgres.proxy.set({ does: 'black_hole' })
      await lasting(60_000)
      await bench.postgres.proxy.set({ does: 'pass' })
      return { repeatsPerTask: 1, latenessMs: 60_000 + latenessMs }
    },
  },
  {
    id: 'F49',
    fault: 'Postgres becomes read-only for 10 s',
    moment: 'A2, M5',
    expected: 'POST is answered with 503; outcomes are kept and recorded afterwards; nothing repeated',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 20, { answers: [{ status: 200, delayMs: 700 }], timeoutMs: 5_000 })
      await burst(bench, 20, { inMs: 6_000, path: '/later' })
      await called(bench, 20)
      await setReadOnly(bench, 'on')
      const refused = await bench.create({ path: '/refused' })
      bench.demand(refused.status === 503, `The POST was answered with ${refused.status}.`)
      await lasting(10_000)
      await setReadOnly(bench, 'off')
      return { latenessMs }
    },
  },
  {
    id: 'F50',
    fault: 'somebody holds the lock of a task for 30 s',
    moment: 'M1, M5',
    expected: 'the other tasks go on; nothing repeated but at most the locked one',
    async run(bench, seed) {
      await bench.startAll()
      const held = await bench.create({
        path: '/held-after',
        inMs: 2_500,
        answers: [{ status: 200, delayMs: 800 }],
        timeoutMs: 5_000,
      })
      const early = await bench.create({ path: '/held-before', inMs: 6_000 })
      await load(bench, { tasks: 150, startInMs: 3_000, spreadMs: 20_000, seed })
      await bench.target.reached('/held-after', 1)
      const client = new pg.Client({ connectionString: bench.postgres.url })
      await client.connect()
      await client.query('BEGIN')
      const ids = [held.id, early.id].map(id => uuidOf(id ?? ''))
      await client.query('SELECT 1 FROM tasks WHERE id = ANY ($1::uuid[]) FOR UPDATE', [ids])
      await lasting(30_000)
      const [open] = await bench.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM tasks WHERE state IN ('pending', 'processing') AND NOT id = ANY ($1::uuid[])`,
        [ids],
      )
      bench.demand(open?.n === 0, `${open?.n} other tasks had not been done while the lock was held.`)
      await client.query('ROLLBACK')
      await client.end()
      return { repeats: 1, repeatsPerTask: 1, latenessMs: 40_000 }
    },
  },
  {
    id: 'F51',
    fault: 'one statement in ten fails with a deadlock or a serialization failure',
    moment: 'claims, records, inserts',
    expected: 'repeated by us; POST is answered with 201 or 503; nothing lost',
    async run(bench, seed) {
      await bench.sql(`
        CREATE FUNCTION bench.fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF random() < 0.05 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40P01'; END IF;
          IF random() < 0.05 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END IF;
          RETURN NULL;
        END $$`)
      await bench.sql(
        `CREATE TRIGGER fail AFTER INSERT OR UPDATE ON tasks FOR EACH STATEMENT EXECUTE FUNCTION bench.fail()`,
      )
      await bench.startAll()
      await load(bench, { tasks: 200, seed })
      const others = bench.creates.filter(({ status }) => status !== 201 && status !== 503)
      bench.demand(others.length === 0, `POSTs were answered with ${others.map(({ status }) => status).join()}.`)
      return { latenessMs: 10_000 }
    },
  },
  {
    id: 'F52',
    fault: 'a migration while running: a new column, an index made concurrently',
    moment: 'load',
    expected: 'nothing lost, no POST refused',
    async run(bench, seed) {
      await bench.startAll()
      const loading = load(bench, { tasks: 200, seed })
      await called(bench, 20)
      await bench.sql('ALTER TABLE tasks ADD COLUMN added_later text')
      await bench.sql('ALTER TABLE runs ADD COLUMN added_later text')
      await bench.sql('CREATE INDEX CONCURRENTLY added_later_idx ON tasks (added_later)')
      await loading
      const others = bench.creates.filter(({ status }) => status !== 201)
      bench.demand(others.length === 0, `POSTs were answered with ${others.map(({ status }) => status).join()}.`)
      return { latenessMs: 10_000 }
    },
  },
]

async function setReadOnly(bench: Parameters<Row['run']>[0], value: 'on' | 'off'): Promise<void> {
  // The bench's own connection follows the setting too, and must be able to take it back.
  await bench.sql(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
  await bench.sql('SELECT pg_reload_conf()')
}
