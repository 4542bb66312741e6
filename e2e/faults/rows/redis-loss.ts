import { join } from 'node:path'
import { startRedis } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import { faultInFlight, faultUnderLoad } from '../fault-under-load.ts'
import { demandHits } from '../fixture/demands.ts'
import { countDelayedJobs } from '../fixture/forge-job.ts'
import { load } from '../fixture/load.ts'
import { burst, called, lasting, restartRedis, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const latenessMs = 60_000

/** Redis loses its data. */
export const redisLoss: Row[] = [
  {
    id: 'F22',
    aboutRedis: true,
    fault: 'FLUSHALL',
    moment: 'pending, far ahead',
    expected: 'nothing lost; Redis holds nothing of them before their time is near',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 30, { inMs: 600_000 })
      await fixture.redis.client.flushall()
      await lasting(4_000)
      fixture.demand((await countDelayedJobs(fixture)) === 0, 'Redis holds jobs of tasks that are ten minutes ahead.')
      await untilInState(fixture, ['pending'], 30)
      return {}
    },
  },
  faultUnderLoad({
    id: 'F23',
    aboutRedis: true,
    fault: 'FLUSHALL',
    moment: 'due now, waiting',
    expected: 'all start within 60 s; nothing repeated',
    calls: 30,
    async strike({ redis }) {
      await redis.client.flushall()
      return { latenessMs }
    },
  }),
  faultInFlight({
    id: 'F24',
    aboutRedis: true,
    fault: 'FLUSHALL',
    moment: 'M3',
    expected: 'the outcomes are recorded; 1 hit each',
    tasks: 30,
    async strike(fixture) {
      await fixture.redis.client.flushall()
      await untilInState(fixture, ['success'], 30)
      demandHits(fixture, 30)
      return { latenessMs: 2_000 }
    },
  }),
  {
    id: 'F25',
    aboutRedis: true,
    fault: 'FLUSHALL',
    moment: 'retrying',
    expected: 'the retries take place at most 60 s after their time',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 30, { answers: [{ status: 500 }, { status: 200 }], baseDelayMs: 4_000 })
      await untilInState(fixture, ['retrying'], 30)
      await fixture.redis.client.flushall()
      await untilInState(fixture, ['success'], 30, 70_000)
      const [late] = await fixture.sql<{ ms: number }>(
        'SELECT max(extract(epoch FROM started_at - scheduled_at))::float8 * 1000 AS ms FROM runs WHERE attempt = 2',
      )
      fixture.notes.push(`retries at most ${Math.round(late?.ms ?? 0)} ms late`)
      fixture.demand((late?.ms ?? 0) < latenessMs, `A retry took place ${late?.ms} ms after its time.`)
      return {}
    },
  },
  {
    id: 'F27',
    aboutRedis: true,
    fault: 'FLUSHALL every 5 s for 2 min',
    moment: 'load',
    expected: 'all delivered; nothing repeated',
    async run(fixture, seed) {
      await fixture.startAll()
      await load(fixture, { tasks: 400, spreadMs: 115_000, seed })
      for (let i = 0; i < 24; i++) {
        await lasting(5_000)
        await fixture.redis.client.flushall()
      }
      return { latenessMs }
    },
  },
  ...[
    { id: 'F28', persistRedis: true, fault: 'Redis kill -9, restarted with its append-only file' },
    { id: 'F29', fault: 'Redis kill -9, restarted empty' },
  ].map(row =>
    faultUnderLoad({
      ...row,
      aboutRedis: true,
      moment: 'load',
      expected: 'as F23',
      calls: 30,
      async strike(fixture) {
        await restartRedis(fixture)
        return { latenessMs }
      },
    }),
  ),
  {
    id: 'F30',
    aboutRedis: true,
    fault: 'Redis restored from an old RDB',
    moment: 'load',
    expected: 'jobs of delivered tasks come back and are refused; nothing repeated',
    async run(fixture, seed) {
      await fixture.startAll()
      await load(fixture, { seed })
      await fixture.redis.client.save()
      const before = await countDelayedJobs(fixture)
      await waitFor(
        () => fixture.sql(`SELECT 1 FROM tasks WHERE state IN ('pending', 'processing', 'retrying')`),
        open => open.length === 0,
        60_000,
      )
      await load(fixture, { seed: seed + 1, tasks: 60 })
      await called(fixture, 180)
      await restartRedis(fixture)
      fixture.notes.push(`${before} old jobs came back`)
      fixture.demand(before > 20, `Only ${before} jobs were saved.`)
      return { latenessMs }
    },
  },
  {
    id: 'F36',
    aboutRedis: true,
    fault: 'Redis fails over to a replica that lacks the last second',
    moment: 'load',
    expected: 'as F23 and F30',
    async run(fixture, seed) {
      const replica = await startRedis({ dataDir: join(fixture.folder, 'replica'), persist: false })
      try {
        const { Redis } = await import('ioredis')
        const client = new Redis(replica.port, '127.0.0.1')
        await client.replicaof('127.0.0.1', String(fixture.redis.port))
        await fixture.startAll()
        await waitFor(
          () => client.info('replication'),
          info => info.includes('master_link_status:up'),
        )
        await load(fixture, { seed })
        await called(fixture, 30)
        await client.replicaof('NO', 'ONE')
        await lasting(1_000)
        fixture.redis.proxy.retarget(replica.port)
        await fixture.redis.kill()
        await untilInState(fixture, ['success', 'dead'], fixture.creates.length, 90_000)
        client.disconnect()
        return { latenessMs }
      } finally {
        await fixture.redis.start()
        fixture.redis.proxy.retarget(fixture.redis.port)
        await replica.stop()
      }
    },
  },
]
