import { waitFor } from '@belfry/test-support/wait-for'
import { faultInFlight, faultUnderLoad } from '../fault-under-load.ts'
import { demandAllAlive, demandHits, demandPosts, demandTasks } from '../fixture/demands.ts'
import { load } from '../fixture/load.ts'
import { burst, lasting, restartPostgres, untilInState } from '../fixture/moments.ts'
import { within } from '../fixture/within.ts'
import type { Row } from '../row.ts'

/** PostgreSQL goes away and comes back. */
export const postgresRestarts: Row[] = [
  {
    id: 'F39',
    fault: 'Postgres stop -m fast and start',
    moment: 'A2',
    expected: '503 and no task while it is away; the repeated call makes one',
    async run(fixture) {
      await fixture.startAll()
      await fixture.postgres.stop('fast')
      const refused = await fixture.create({ path: '/one' })
      fixture.demand(refused.status === 503, `The POST was answered with ${refused.status}.`)
      await fixture.postgres.start()
      const repeated = await fixture.create({ path: '/one' })
      fixture.demand(repeated.status === 201, `The repeated POST was answered with ${repeated.status}.`)
      await demandTasks(fixture, 1)
      return { latenessMs: 5_000 }
    },
  },
  {
    id: 'F40',
    fault: 'Postgres stop -m immediate and start',
    moment: 'A2, commits in flight',
    expected: 'only 201 and 503; every 201 is stored; what was answered with 503 may be stored, and is then delivered',
    async run(fixture) {
      await fixture.startAll()
      const posting = load(fixture, { tasks: 400, startInMs: 8_000, spreadMs: 6_000 })
      await waitFor(
        async () => fixture.creates.length,
        count => count > 40,
      )
      await restartPostgres(fixture)
      await posting
      demandPosts(fixture, 201, 503)
      const refused = fixture.creates.filter(({ status }) => status === 503).length
      const storedAnyway = (await fixture.count('tasks')) - (fixture.creates.length - refused)
      fixture.notes.push(`${refused} POSTs answered with 503, ${storedAnyway} of them stored`)
      fixture.demand(refused > 0, 'No POST met the restart.')
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F41',
    fault: 'Postgres immediate restart',
    moment: 'M2, claims in flight',
    expected: '1 hit for each task; a claim whose answer was lost is found again by its token; no attempt is lost',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 150, { inMs: 4_000 })
      await waitFor(
        () => fixture.sql(`SELECT 1 FROM tasks WHERE state <> 'pending'`),
        moved => moved.length > 0,
      )
      await restartPostgres(fixture)
      await untilInState(fixture, ['success', 'dead'], 150, 60_000)
      fixture.notes.push(`${await fixture.count(`runs WHERE error_code = 'worker_lost'`)} attempts lost`)
      return { latenessMs: 30_000 }
    },
  },
  faultInFlight({
    id: 'F42',
    fault: 'Postgres immediate restart',
    moment: 'M3, M4',
    expected: 'the outcomes are recorded after it is back; 1 hit each',
    tasks: 40,
    async strike(fixture) {
      await restartPostgres(fixture)
      await untilInState(fixture, ['success'], 40)
      demandHits(fixture, 40)
      return {}
    },
  }),
  faultInFlight({
    id: 'F43',
    fault: 'Postgres down for 25 s',
    moment: 'M5',
    expected: 'no dispatcher is taken for dead; every outcome is recorded once it is back; nothing repeated',
    tasks: 20,
    async strike(fixture) {
      await restartPostgres(fixture, 25_000)
      await untilInState(fixture, ['success'], 20, 60_000)
      demandHits(fixture, 20)
      return {}
    },
  }),
  faultInFlight({
    id: 'S04',
    fault: 'Postgres down for 25 s, and the scheduler for a little longer',
    moment: 'M5',
    expected: 'every outcome is recorded; nothing repeated',
    tasks: 20,
    async strike(fixture, { scheduler }) {
      await fixture.postgres.stop('immediate')
      await scheduler.stop('SIGKILL')
      await lasting(25_000)
      await fixture.postgres.start()
      await untilInState(fixture, ['success'], 20, 10_000)
      await fixture.start('scheduler')
      demandHits(fixture, 20)
      return {}
    },
  }),
  faultInFlight({
    id: 'F44',
    fault: 'Postgres down and dispatcher kill -9',
    moment: 'M5',
    expected: 'as F09',
    tasks: 20,
    async strike(fixture, { dispatcher }) {
      await fixture.postgres.stop('immediate')
      await lasting(2_000)
      await dispatcher.stop('SIGKILL')
      await fixture.postgres.start()
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success'], 20, 60_000)
      return { latenessMs: 5_000 }
    },
  }),
  faultUnderLoad({
    id: 'F45',
    fault: 'Postgres down for 2 min',
    moment: 'load and POSTs',
    expected: 'POST is answered with 503, readyz says 503, no process ends; everything continues without a restart',
    tasks: { tasks: 150, spreadMs: 60_000 },
    calls: 10,
    async strike(fixture) {
      await fixture.postgres.stop('fast')
      const downAt = performance.now()
      while (performance.now() - downAt < 120_000) {
        const answer = await fixture.create({ path: '/refused' })
        fixture.demand(answer.status === 503, `A POST was answered with ${answer.status}.`)
        await lasting(5_000)
      }
      const ready = await fetch(`${fixture.url}/readyz`)
      fixture.demand(ready.status === 503, `readyz says ${ready.status}.`)
      await fixture.postgres.start()
      demandAllAlive(fixture)
      const began = performance.now()
      await waitFor(
        () => fixture.create({ path: '/afterwards' }),
        ({ status }) => status === 201,
      )
      fixture.notes.push(`POST answered with 201 again after ${Math.round(performance.now() - began)} ms`)
      return { latenessMs: 120_000 + 60_000 }
    },
  }),
  {
    id: 'F46',
    fault: 'Postgres down',
    moment: 'start',
    expected: 'every process waits, continues when it comes within a minute, and else ends with another code than 0',
    async run(fixture) {
      await fixture.postgres.proxy.set({ does: 'refuse' })
      const waiting = (['api', 'scheduler', 'dispatcher'] as const).map(name => fixture.spawn(name))
      const began = performance.now()
      const ended = Promise.all(waiting.map(service => service.ended))
      const codes = await within(180_000, ended, () => 'every process to give up')
      const tookMs = performance.now() - began
      fixture.notes.push(`ended with ${codes.join()} after ${(tookMs / 1000).toFixed(0)} s`)
      fixture.demand(
        codes.every(code => code === 1),
        `They ended with ${codes.join()}.`,
      )
      fixture.demand(tookMs > 30_000 && tookMs < 75_000, `They ended after ${tookMs} ms.`)
      const starting = fixture.startAll()
      await lasting(8_000)
      await fixture.postgres.proxy.set({ does: 'pass' })
      await starting
      await burst(fixture, 5)
      return { latenessMs: 5_000 }
    },
  },
]
