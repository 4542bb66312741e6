import { waitFor } from '../../wait-for.ts'
import { untilInState } from '../bench/bench.ts'
import { load } from '../bench/load.ts'
import { burst, called, isAlive, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'
import { demandHits } from './dispatcher-kills.ts'

// Slow enough to be under way when the fault strikes; a lease of 20 s.
const slow = { answers: [{ status: 200, delayMs: 700 }], timeoutMs: 5_000 }

/** A PostgreSQL that goes away and comes back. */
export const postgresRestarts: Row[] = [
  {
    id: 'F39',
    fault: 'Postgres stop -m fast and start',
    moment: 'A2',
    expected: '503 and no task while it is away; the repeated call makes one',
    async run(bench) {
      await bench.startAll()
      await bench.postgres.stop('fast')
      const refused = await bench.create({ path: '/one' })
      bench.demand(refused.status === 503, `The POST was answered with ${refused.status}.`)
      await bench.postgres.start()
      const repeated = await bench.create({ path: '/one' })
      bench.demand(repeated.status === 201, `The repeated POST was answered with ${repeated.status}.`)
      await demandTasks(bench, 1)
      return { latenessMs: 5_000 }
    },
  },
  {
    id: 'F40',
    fault: 'Postgres stop -m immediate and start',
    moment: 'A2, commits in flight',
    expected: 'only 201 and 503; every 201 is stored; what was answered with 503 may be stored, and is then delivered',
    async run(bench) {
      await bench.startAll()
      const posting = load(bench, { tasks: 400, startInMs: 8_000, spreadMs: 6_000 })
      await waitFor(
        async () => bench.creates.length,
        count => count > 40,
      )
      await bench.postgres.stop('immediate')
      await bench.postgres.start()
      await posting
      const others = bench.creates.filter(({ status }) => status !== 201 && status !== 503)
      bench.demand(others.length === 0, `POSTs were answered with ${others.map(({ status }) => status).join()}.`)
      const refused = bench.creates.filter(({ status }) => status === 503).length
      const [stored] = await bench.sql<{ n: number }>('SELECT count(*)::int AS n FROM tasks')
      const unknown = (stored?.n ?? 0) - (bench.creates.length - refused)
      bench.notes.push(`${refused} POSTs answered with 503, ${unknown} of them stored`)
      bench.demand(refused > 0, 'No POST met the restart.')
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F41',
    fault: 'Postgres immediate restart',
    moment: 'M2, claims in flight',
    expected:
      'at most 1 hit for each attempt; a claim whose answer was lost is found again or tried again after its lease',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 150, { inMs: 4_000 })
      await waitFor(
        () => bench.sql(`SELECT 1 FROM tasks WHERE state <> 'pending'`),
        moved => moved.length > 0,
      )
      await bench.postgres.stop('immediate')
      await bench.postgres.start()
      await untilInState(bench, ['success', 'dead'], 150, 60_000)
      const [lost] = await bench.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM runs WHERE error_code = 'worker_lost'`,
      )
      bench.notes.push(`${lost?.n} attempts lost`)
      return { latenessMs: 76_000 }
    },
  },
  {
    id: 'F42',
    fault: 'Postgres immediate restart',
    moment: 'M3, M4',
    expected: 'the outcomes are recorded after it is back; 1 hit each',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 40, slow)
      await called(bench, 40)
      await bench.postgres.stop('immediate')
      await bench.postgres.start()
      await untilInState(bench, ['success'], 40)
      await demandHits(bench, 40)
      return {}
    },
  },
  {
    id: 'F43',
    fault: 'Postgres down for longer than the lease',
    moment: 'M5',
    expected: 'each outcome is recorded while its lease holds, or the attempt is lost and made once more',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 20, slow)
      await called(bench, 20)
      await bench.postgres.stop('immediate')
      await lasting(25_000)
      await bench.postgres.start()
      await untilInState(bench, ['success'], 20, 60_000)
      bench.notes.push(`${bench.target.count() - 20} of 20 repeated`)
      return { repeatsPerTask: 1 }
    },
  },
  {
    id: 'S04',
    fault: 'Postgres down for longer than the lease, and the scheduler for a little longer',
    moment: 'M5',
    expected: 'nobody has ended the leases, so every outcome is recorded; nothing repeated',
    async run(bench) {
      const { scheduler } = await bench.startAll()
      await burst(bench, 20, slow)
      await called(bench, 20)
      await bench.postgres.stop('immediate')
      await scheduler.stop('SIGKILL')
      await lasting(25_000)
      await bench.postgres.start()
      await untilInState(bench, ['success'], 20, 10_000)
      await bench.start('scheduler')
      await demandHits(bench, 20)
      return {}
    },
  },
  {
    id: 'F44',
    fault: 'Postgres down and dispatcher kill -9',
    moment: 'M5',
    expected: 'as F09',
    async run(bench) {
      const { dispatcher } = await bench.startAll()
      await burst(bench, 20, slow)
      await called(bench, 20)
      await bench.postgres.stop('immediate')
      await lasting(2_000)
      await dispatcher.stop('SIGKILL')
      await bench.postgres.start()
      await bench.start('dispatcher')
      await untilInState(bench, ['success'], 20, 60_000)
      return { repeatsPerTask: 1, latenessMs: 5_000 }
    },
  },
  {
    id: 'F45',
    fault: 'Postgres down for 2 min',
    moment: 'load and POSTs',
    expected: 'POST is answered with 503, readyz says 503, no process ends; all goes on without a restart of ours',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 150, spreadMs: 60_000, seed })
      await called(bench, 10)
      await bench.postgres.stop('fast')
      const downAt = performance.now()
      while (performance.now() - downAt < 120_000) {
        const answer = await bench.create({ path: '/refused' })
        bench.demand(answer.status === 503, `A POST was answered with ${answer.status}.`)
        await lasting(5_000)
      }
      const ready = await fetch(`${bench.url}/readyz`)
      bench.demand(ready.status === 503, `readyz says ${ready.status}.`)
      await bench.postgres.start()
      const alive = await Promise.all(bench.services.map(isAlive))
      bench.demand(alive.every(Boolean), 'A process ended.')
      const began = performance.now()
      await waitFor(
        () => bench.create({ path: '/afterwards' }),
        ({ status }) => status === 201,
      )
      bench.notes.push(`POST answered with 201 again after ${Math.round(performance.now() - began)} ms`)
      return { repeatsPerTask: 1, latenessMs: 120_000 + 60_000 }
    },
  },
  {
    id: 'F46',
    fault: 'Postgres down',
    moment: 'start',
    expected: 'every process waits, goes on when it comes within a minute, and else ends with another code than 0',
    async run(bench) {
      await bench.postgres.proxy.set({ does: 'refuse' })
      const waiting = (['api', 'scheduler', 'dispatcher'] as const).map(name => bench.spawn(name))
      const began = performance.now()
      const codes = await Promise.all(waiting.map(({ ended }) => ended))
      const tookMs = performance.now() - began
      bench.notes.push(`ended with ${codes.join()} after ${(tookMs / 1000).toFixed(0)} s`)
      bench.demand(
        codes.every(code => code === 1),
        `They ended with ${codes.join()}.`,
      )
      bench.demand(tookMs > 30_000 && tookMs < 75_000, `They ended after ${tookMs} ms.`)
      const starting = bench.startAll()
      await lasting(8_000)
      await bench.postgres.proxy.set({ does: 'pass' })
      await starting
      await burst(bench, 5)
      return { latenessMs: 5_000 }
    },
  },
]

async function demandTasks(bench: Parameters<Row['run']>[0], count: number): Promise<void> {
  const [stored] = await bench.sql<{ n: number }>('SELECT count(*)::int AS n FROM tasks')
  bench.demand(stored?.n === count, `There are ${stored?.n} tasks, not ${count}.`)
}
