import { join } from 'node:path'
import { waitFor } from '@belfry/test-support/wait-for'
import { backUp } from '../../restore/online-backup.ts'
import { migrate, restoreBackup, untilBack } from '../fixture/backup.ts'
import { ageCronJobs } from '../fixture/cron-moments.ts'
import { readDatabaseClock } from '../fixture/database-clock.ts'
import { load } from '../fixture/load.ts'
import { burst, called, killAll, lasting } from '../fixture/moments.ts'
import { startReplica } from '../fixture/replica.ts'
import type { Row } from '../row.ts'

const slow = { answers: [{ status: 200, delayMs: 3_000 }], timeoutMs: 20_000 }

/** Another PostgreSQL replaces the current one. */
export const failovers: Row[] = [
  {
    id: 'S40',
    fault: 'failover to a synchronous replica',
    moment: 'load, M3',
    expected: 'nothing lost, nothing repeated',
    async run(fixture, seed) {
      const replica = await startReplica(fixture, 'synchronous')
      await fixture.startAll()
      await load(fixture, { seed, tasks: 150 })
      await burst(fixture, 20, slow)
      await called(fixture, 60)
      await replica.takeOver()
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'S41',
    fault: 'failover to an asynchronous replica that lacks the last 3 s',
    moment: 'load, M3',
    expected:
      'lost is only what was committed in those 3 s: tasks that were accepted then, and outcomes, whose calls are repeated',
    async run(fixture, seed) {
      const replica = await startReplica(fixture, 'asynchronous')
      await fixture.startAll()
      await load(fixture, { seed, tasks: 150 })
      await called(fixture, 40)
      await replica.cutOff()
      const from = (await readDatabaseClock(fixture.sql)).now - 50
      await burst(fixture, 10, { path: '/lost', inMs: 60_000 })
      await lasting(3_000)
      const before = fixture.target.count()
      await replica.takeOver()
      const until = await untilBack(fixture)
      await fixture.charges.all('the outcomes were lost with the primary')
      const lost = 10 - (await fixture.count(`task_requests WHERE name = '/lost'`))
      fixture.notes.push(`${lost} of 10 accepted tasks lost; ${before} calls before the failover`)
      return { lostCommits: { from, until }, restMs: 90_000 }
    },
  },
  {
    id: 'S42',
    fault: 'restored from a backup, with 60 cron jobs of every minute; held, then released',
    moment: 'pending, cron',
    expected: 'held: nothing of the past is sent, but new tasks are; released: all of it is sent once more',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 30, { inMs: 12_000 })
      for (let i = 0; i < 60; i++) await fixture.createCronJob({ path: `/cron-${i}`, catchUp: 'all' })
      const from = (await readDatabaseClock(fixture.sql)).now - 50
      const backup = join(fixture.folder, 'backup')
      await backUp({ url: () => fixture.postgres.url }, fixture.postgres.dataDir, backup)
      await called(fixture, 30)
      await killAll(fixture)
      const until = await restoreBackup(fixture, backup)
      // As if the backup were three hours old.
      await ageCronJobs(fixture, 180)
      fixture.notes.push(await migrate(fixture, 'hold-overdue'))
      const [held] = await fixture.sql<{ at: Date }>('SELECT clock_timestamp() AS at')
      const past = (condition: string) => fixture.count(`tasks WHERE execute_at < $1 AND ${condition}`, [held?.at])
      const due = await past('finished_at IS NULL AND waits_for = 0 AND due_at <= clock_timestamp()')
      fixture.demand(due === 0, `${due} tasks are due and not held.`)
      await fixture.startAll()
      await burst(fixture, 10, { path: '/new' })
      await fixture.target.reached('/new', 10)
      await lasting(15_000)
      const sent = await past('attempts > 0')
      fixture.demand(sent === 0, `${sent} tasks of the past were sent while they were held.`)
      fixture.notes.push(await migrate(fixture, 'release-held'))
      await waitFor(
        () => past('finished_at IS NULL'),
        open => open === 0,
        240_000,
      )
      return { lostCommits: { from, until }, restMs: 120_000, latenessMs: 300_000 }
    },
  },
]
