import { join } from 'node:path'
import { startRedis } from '@belfry/embedded'
import { waitFor } from '../../wait-for.ts'
import { untilInState } from '../bench/bench.ts'
import { endWithThisProcess } from '../bench/end-with-this-process.ts'
import { countDelayedJobs } from '../bench/forge-job.ts'
import { load } from '../bench/load.ts'
import { burst, called, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'
import { demandHits } from './dispatcher-kills.ts'

const withinMs = 60_000

/** A Redis that loses what it knew. */
export const redisLoss: Row[] = [
  {
    id: 'F22',
    fault: 'FLUSHALL',
    moment: 'pending, far ahead',
    expected: 'nothing lost; Redis holds nothing of them before their time is near',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 30, { inMs: 600_000 })
      await bench.redis.client.flushall()
      await lasting(4_000)
      bench.demand((await countDelayedJobs(bench)) === 0, 'Redis holds jobs of tasks that are ten minutes ahead.')
      await untilInState(bench, ['pending'], 30)
      return {}
    },
  },
  {
    id: 'F23',
    fault: 'FLUSHALL',
    moment: 'due now, waiting',
    expected: 'all start within 60 s; nothing repeated',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { seed })
      await called(bench, 30)
      await bench.redis.client.flushall()
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F24',
    fault: 'FLUSHALL',
    moment: 'M3',
    expected: 'the outcomes are recorded; 1 hit each',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 30, { answers: [{ status: 200, delayMs: 700 }], timeoutMs: 5_000 })
      await called(bench, 30)
      await bench.redis.client.flushall()
      await untilInState(bench, ['success'], 30)
      await demandHits(bench, 30)
      return { latenessMs: 2_000 }
    },
  },
  {
    id: 'F25',
    fault: 'FLUSHALL',
    moment: 'retrying',
    expected: 'the retries take place at most 60 s after their time',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 30, { answers: [{ status: 500 }, { status: 200 }], baseDelayMs: 4_000 })
      await untilInState(bench, ['retrying'], 30)
      await bench.redis.client.flushall()
      await untilInState(bench, ['success'], 30, 70_000)
      const [late] = await bench.sql<{ ms: number }>(
        'SELECT max(extract(epoch FROM started_at - scheduled_at))::float8 * 1000 AS ms FROM runs WHERE attempt = 2',
      )
      bench.notes.push(`retries at most ${Math.round(late?.ms ?? 0)} ms late`)
      bench.demand((late?.ms ?? 0) < withinMs, `A retry took place ${late?.ms} ms after its time.`)
      return {}
    },
  },
  {
    id: 'F27',
    fault: 'FLUSHALL every 5 s for 2 min',
    moment: 'load',
    expected: 'all delivered; nothing repeated',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 400, spreadMs: 115_000, seed })
      for (let i = 0; i < 24; i++) {
        await lasting(5_000)
        await bench.redis.client.flushall()
      }
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F28',
    fault: 'Redis kill -9, restarted with its append-only file',
    moment: 'load',
    expected: 'as F23',
    persistRedis: true,
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { seed })
      await called(bench, 30)
      await bench.redis.kill()
      await bench.redis.start()
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F29',
    fault: 'Redis kill -9, restarted empty',
    moment: 'load',
    expected: 'as F23',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { seed })
      await called(bench, 30)
      await bench.redis.kill()
      await bench.redis.start()
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F30',
    fault: 'Redis restored from an old RDB',
    moment: 'load',
    expected: 'jobs of delivered tasks come back and are refused; nothing repeated',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { seed })
      await bench.redis.client.save()
      const before = await countDelayedJobs(bench)
      await waitFor(
        () => bench.sql(`SELECT 1 FROM tasks WHERE state IN ('pending', 'processing', 'retrying')`),
        open => open.length === 0,
        60_000,
      )
      await load(bench, { seed: seed + 1, tasks: 60 })
      await called(bench, 180)
      await bench.redis.kill()
      await bench.redis.start()
      bench.notes.push(`${before} old jobs came back`)
      bench.demand(before > 20, `Only ${before} jobs were saved.`)
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F36',
    fault: 'Redis fails over to a replica that lacks the last second',
    moment: 'load',
    expected: 'as F23 and F30',
    async run(bench, seed) {
      const replica = await startRedis({ dataDir: join(bench.folder, 'replica'), persist: false })
      const pid = endWithThisProcess(replica.pid)
      try {
        const { Redis } = await import('ioredis')
        const client = new Redis(replica.port, '127.0.0.1')
        await client.replicaof('127.0.0.1', String(bench.redis.port))
        await bench.startAll()
        await waitFor(
          () => client.info('replication'),
          info => info.includes('master_link_status:up'),
        )
        await load(bench, { seed })
        await called(bench, 30)
        await client.replicaof('NO', 'ONE')
        await lasting(1_000)
        bench.redis.proxy.retarget(replica.port)
        await bench.redis.kill()
        await untilInState(bench, ['success', 'dead'], bench.creates.length, 90_000)
        client.disconnect()
        return { latenessMs: withinMs }
      } finally {
        await bench.redis.start()
        bench.redis.proxy.retarget(bench.redis.port)
        await replica.stop()
        pid.forget()
      }
    },
  },
]
