import { untilInState } from '../bench/bench.ts'
import { load } from '../bench/load.ts'
import { burst, called, isAlive, lasting } from '../bench/moments.ts'
import type { Row } from '../row.ts'

const withinMs = 60_000

/** A Redis that is away, full, slow, or says no. */
export const redisTrouble: Row[] = [
  {
    id: 'F31',
    fault: 'Redis down for 2 min',
    moment: 'load and POSTs',
    expected: 'POST is answered with 201; deliveries go on from PostgreSQL, and normally within 60 s after',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 60, seed })
      await called(bench, 20)
      await bench.redis.kill()
      const answers = await load(bench, { tasks: 200, spreadMs: 100_000, seed: seed + 1 })
      const others = answers.filter(({ status }) => status !== 201)
      bench.demand(others.length === 0, `${others.length} POSTs were not answered with 201.`)
      bench.notes.push(`slowest POST ${Math.max(...answers.map(({ tookMs }) => tookMs))} ms`)
      await lasting(115_000)
      const during = bench.target.count()
      bench.notes.push(`${during} hits before Redis was back`)
      bench.demand(during > 200, `Only ${during} hits while Redis was away.`)
      await bench.redis.start()
      return { latenessMs: withinMs }
    },
  },
  {
    id: 'F32',
    fault: 'Redis down',
    moment: 'start of every process',
    expected: 'all start and wait; POST is answered with 201; delivered at most 60 s after Redis is there',
    async run(bench) {
      await bench.redis.kill()
      await bench.startAll()
      await burst(bench, 10)
      const others = bench.creates.filter(({ status }) => status !== 201)
      bench.demand(others.length === 0, `${others.length} POSTs were not answered with 201.`)
      await lasting(10_000)
      const alive = await Promise.all(bench.services.map(isAlive))
      bench.demand(alive.every(Boolean), 'A process ended.')
      bench.notes.push(`${bench.target.count()} of 10 delivered without Redis`)
      await bench.redis.start()
      await untilInState(bench, ['success'], 10, withinMs)
      return {}
    },
  },
  {
    id: 'F33',
    fault: 'Redis has no memory left (noeviction)',
    moment: 'A3, M7',
    expected: 'POST is answered with 201; all is delivered at most 60 s after there is memory',
    async run(bench) {
      await bench.startAll()
      await burst(bench, 10, { answers: [{ status: 500 }, { status: 200 }], baseDelayMs: 3_000 })
      await bench.redis.client.config('SET', 'maxmemory', '1')
      const answers = await load(bench, { tasks: 40 })
      bench.demand(
        answers.every(({ status }) => status === 201),
        'A POST was not answered with 201.',
      )
      await lasting(20_000)
      bench.notes.push(`${bench.target.count()} hits without memory`)
      await bench.redis.client.config('SET', 'maxmemory', '0')
      return { latenessMs: 20_000 + withinMs, restMs: withinMs }
    },
  },
  {
    id: 'F34',
    fault: 'Redis evicts keys (allkeys-lru)',
    moment: 'start',
    expected: 'a warning that names the policy',
    async run(bench) {
      await bench.redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const { dispatcher } = await bench.startAll()
      await burst(bench, 5)
      await untilInState(bench, ['success'], 5)
      bench.demand(/eviction policy/i.test(dispatcher.output), 'No process warned of the eviction policy.')
      return {}
    },
  },
  {
    id: 'F35',
    fault: 'Redis is a black hole for 60 s',
    moment: 'load and POSTs',
    expected: 'POST is answered with 201 within 2 s; no process hangs; all delivered',
    async run(bench, seed) {
      await bench.startAll()
      await load(bench, { tasks: 60, seed })
      await called(bench, 20)
      await bench.redis.proxy.set({ does: 'black_hole' })
      const answers = await load(bench, { tasks: 60, spreadMs: 50_000, seed: seed + 1 })
      const slowest = Math.max(...answers.map(({ tookMs }) => tookMs))
      bench.notes.push(`slowest POST ${slowest} ms`)
      bench.demand(slowest < 2_000, `A POST took ${slowest} ms.`)
      bench.demand(
        answers.every(({ status }) => status === 201),
        'A POST was not answered with 201.',
      )
      await lasting(55_000)
      bench.notes.push(`${bench.target.count()} hits before it ended`)
      await bench.redis.proxy.set({ does: 'pass' })
      return { latenessMs: 2 * withinMs, restMs: withinMs }
    },
  },
  {
    id: 'F37',
    fault: 'Redis answers 500 ms later',
    moment: 'load',
    expected: 'slower; nothing lost, nothing repeated',
    async run(bench, seed) {
      await bench.startAll()
      await bench.redis.proxy.set({ does: 'delay', ms: 250 })
      await load(bench, { seed })
      return { latenessMs: 15_000 }
    },
  },
  {
    id: 'F38',
    fault: 'Redis wants a password, then is read-only',
    moment: 'load',
    expected: 'errors are logged; all delivered at most 60 s after each repair',
    async run(bench, seed) {
      const { dispatcher } = await bench.startAll()
      await load(bench, { tasks: 160, spreadMs: 30_000, seed })
      await called(bench, 20)
      const { client } = bench.redis
      await client.config('SET', 'requirepass', 'secret')
      await client.call('AUTH', 'secret')
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await lasting(10_000)
      bench.demand(/NOAUTH/.test(dispatcher.output), 'The dispatcher did not log that it is not let in.')
      await client.config('SET', 'requirepass', '')
      await lasting(5_000)
      await client.replicaof('127.0.0.1', '1')
      await lasting(8_000)
      await client.replicaof('NO', 'ONE')
      return { latenessMs: withinMs }
    },
  },
]
