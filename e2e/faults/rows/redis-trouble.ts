import { faultUnderLoad } from '../fault-under-load.ts'
import { demandAllAlive, demandPosts } from '../fixture/demands.ts'
import { load } from '../fixture/load.ts'
import { burst, lasting, untilInState } from '../fixture/moments.ts'
import type { Row } from '../row.ts'

const latenessMs = 60_000

/** Redis is away, full, slow, or refuses commands. */
export const redisTrouble: Row[] = [
  faultUnderLoad({
    id: 'F31',
    aboutRedis: true,
    fault: 'Redis down for 2 min',
    moment: 'load and POSTs',
    expected: 'POST is answered with 201; deliveries continue from PostgreSQL, and normally within 60 s after',
    tasks: { tasks: 60 },
    calls: 20,
    async strike(fixture, _services, seed) {
      await fixture.redis.kill()
      const answers = await load(fixture, { tasks: 200, spreadMs: 100_000, seed: seed + 1 })
      const others = answers.filter(({ status }) => status !== 201)
      fixture.demand(others.length === 0, `${others.length} POSTs were not answered with 201.`)
      fixture.notes.push(`slowest POST ${Math.max(...answers.map(({ tookMs }) => tookMs))} ms`)
      await lasting(115_000)
      const during = fixture.target.count()
      fixture.notes.push(`${during} hits before Redis was back`)
      fixture.demand(during > 200, `Only ${during} hits while Redis was away.`)
      await fixture.redis.start()
      return { latenessMs }
    },
  }),
  {
    id: 'F32',
    aboutRedis: true,
    fault: 'Redis down',
    moment: 'start of every process',
    expected: 'all start and wait; POST is answered with 201; delivered at most 60 s after Redis is there',
    async run(fixture) {
      await fixture.redis.kill()
      await fixture.startAll()
      await burst(fixture, 10)
      demandPosts(fixture, 201)
      await lasting(10_000)
      demandAllAlive(fixture)
      fixture.notes.push(`${fixture.target.count()} of 10 delivered without Redis`)
      await fixture.redis.start()
      await untilInState(fixture, ['success'], 10, latenessMs)
      return {}
    },
  },
  {
    id: 'F33',
    aboutRedis: true,
    fault: 'Redis has no memory left (noeviction)',
    moment: 'A3, M7',
    expected: 'POST is answered with 201; all is delivered at most 60 s after there is memory',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 10, { answers: [{ status: 500 }, { status: 200 }], baseDelayMs: 3_000 })
      await fixture.redis.client.config('SET', 'maxmemory', '1')
      const answers = await load(fixture, { tasks: 40 })
      fixture.demand(
        answers.every(({ status }) => status === 201),
        'A POST was not answered with 201.',
      )
      await lasting(20_000)
      fixture.notes.push(`${fixture.target.count()} hits without memory`)
      await fixture.redis.client.config('SET', 'maxmemory', '0')
      return { latenessMs: 20_000 + latenessMs, restMs: 60_000 }
    },
  },
  {
    id: 'F34',
    aboutRedis: true,
    fault: 'Redis evicts keys (allkeys-lru)',
    moment: 'start',
    expected: 'a warning that names the policy',
    async run(fixture) {
      await fixture.redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const { dispatcher } = await fixture.startAll()
      await burst(fixture, 5)
      await untilInState(fixture, ['success'], 5)
      fixture.demand(/eviction policy/i.test(dispatcher.output), 'No process warned of the eviction policy.')
      return {}
    },
  },
  faultUnderLoad({
    id: 'F35',
    aboutRedis: true,
    fault: 'Redis is a black hole for 60 s',
    moment: 'load and POSTs',
    expected: 'POST is answered with 201 within 2 s; no process hangs; all delivered',
    tasks: { tasks: 60 },
    calls: 20,
    async strike(fixture, _services, seed) {
      await fixture.redis.proxy.set({ does: 'black_hole' })
      const answers = await load(fixture, { tasks: 60, spreadMs: 50_000, seed: seed + 1 })
      const slowest = Math.max(...answers.map(({ tookMs }) => tookMs))
      fixture.notes.push(`slowest POST ${slowest} ms`)
      fixture.demand(slowest < 2_000, `A POST took ${slowest} ms.`)
      fixture.demand(
        answers.every(({ status }) => status === 201),
        'A POST was not answered with 201.',
      )
      await lasting(55_000)
      fixture.notes.push(`${fixture.target.count()} hits before it ended`)
      await fixture.redis.proxy.set({ does: 'pass' })
      return { latenessMs: 2 * latenessMs, restMs: 60_000 }
    },
  }),
  {
    id: 'F37',
    aboutRedis: true,
    fault: 'Redis answers 500 ms later',
    moment: 'load',
    expected: 'slower; nothing lost, nothing repeated',
    async run(fixture, seed) {
      await fixture.startAll()
      await fixture.redis.proxy.set({ does: 'delay', ms: 250 })
      await load(fixture, { seed })
      return { latenessMs: 15_000 }
    },
  },
  faultUnderLoad({
    id: 'F38',
    aboutRedis: true,
    fault: 'Redis wants a password, then is read-only',
    moment: 'load',
    expected: 'errors are logged; all delivered at most 60 s after each repair',
    tasks: { tasks: 160, spreadMs: 30_000 },
    calls: 20,
    async strike(fixture, { dispatcher }) {
      const { client } = fixture.redis
      await client.config('SET', 'requirepass', 'secret')
      await client.call('AUTH', 'secret')
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await lasting(10_000)
      fixture.demand(/NOAUTH/.test(dispatcher.output), 'The dispatcher did not log that Redis refuses it.')
      await client.config('SET', 'requirepass', '')
      await lasting(5_000)
      await client.replicaof('127.0.0.1', '1')
      await lasting(8_000)
      await client.replicaof('NO', 'ONE')
      return { latenessMs }
    },
  }),
]
