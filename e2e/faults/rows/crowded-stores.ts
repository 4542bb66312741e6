import { readdirSync, readFileSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import pg from 'pg'
import { demandAllAlive, demandPosts } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { load, steadyLoad } from '../fixture/load.ts'
import { burst, lasting, untilInState } from '../fixture/moments.ts'
import { startWithProbes } from '../fixture/probes.ts'
import { fillDisk, moveToSmallDisk } from '../fixture/small-disk.ts'
import type { Row } from '../row.ts'

const latenessMs = 60_000

/** A store answers nothing, has no connection left, or has no space left. */
export const crowdedStores: Row[] = [
  {
    id: 'S83',
    fault: 'PostgreSQL is frozen for 14 s (SIGSTOP)',
    moment: 'load and probes',
    expected: '/readyz 503 within the 3 s of a probe, /healthz 200 throughout, all ready within 5 s after',
    async run(fixture, seed) {
      const probes = await startWithProbes(fixture)
      await load(fixture, { tasks: 100, spreadMs: 30_000, seed })
      const pids = [fixture.postgres.pid(), ...childrenOf(fixture.postgres.pid())]
      await fixture.charges.all('PostgreSQL was frozen')
      for (const pid of pids) process.kill(pid, 'SIGSTOP')
      await lasting(5_000)
      const [ready, healthy] = [await probes.ask('/readyz'), await probes.ask('/healthz')]
      await lasting(9_000 - Math.max(...ready.map(({ tookMs }) => tookMs)))
      for (const pid of pids) process.kill(pid, 'SIGCONT')
      await lasting(5_000)
      const after = await probes.ask('/readyz')
      const statuses = [ready, healthy, after].map(each => each.map(({ status }) => status).join())
      const slowest = Math.max(...ready.map(({ tookMs }) => tookMs))
      fixture.notes.push(`/readyz answered 503 within ${slowest} ms`)
      fixture.demand(
        statuses.join(' ') === '503,503,503 200,200,200 200,200,200',
        `The probes saw ${statuses.join(' ')}.`,
      )
      demandAllAlive(fixture)
      return { latenessMs }
    },
  },
  {
    id: 'S84',
    fault: 'other clients take every connection of PostgreSQL that is free, for 20 s',
    moment: '10 POSTs a second, and the start of a scheduler',
    expected: 'no process ends; POST is answered with 201 or 503; a scheduler that starts meanwhile waits',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 20)
      await untilInState(fixture, ['success'], 20)
      await lasting(31_000) // idle connections are closed by then
      const crowd = async () => {
        const clients = await takeConnections(fixture, 10_000)
        fixture.notes.push(`${clients.length} connections taken`)
        const late = fixture.spawn('scheduler')
        await lasting(10_000)
        await Promise.all(clients.map(client => client.end()))
        await lasting(8_000)
        fixture.demand(/"service.ready"/.test(late.output), 'The scheduler did not start afterwards.')
      }
      const answers = await steadyLoad(fixture, 10, crowd())
      demandPosts(fixture, 201, 503)
      const refused = answers.filter(({ status }) => status === 503).length
      fixture.notes.push(`${refused} of ${answers.length} POSTs answered with 503`)
      demandAllAlive(fixture)
      return { latenessMs }
    },
  },
  {
    id: 'S85',
    aboutRedis: true,
    fault: 'Redis evicts jobs at its memory limit (allkeys-lru)',
    moment: '2,000 tasks are waiting',
    expected: 'all are delivered; the eviction is reported',
    async run(fixture) {
      const { scheduler, dispatcher } = await fixture.startAll()
      await burst(fixture, 2_000, { inMs: 30_000 })
      const { client } = fixture.redis
      await client.config('SET', 'maxmemory-policy', 'allkeys-lru')
      await client.config('SET', 'maxmemory', '1500000')
      await untilInState(fixture, ['success'], 2_000, 120_000)
      const evicted = Number(/evicted_keys:(\d+)/.exec(await client.info('stats'))?.[1])
      fixture.notes.push(`${evicted} keys evicted`)
      fixture.demand(evicted > 0, 'Redis evicted nothing.')
      const logs = `${scheduler.output}${dispatcher.output}`
      fixture.demand(/"queue\.(unfit|lost)"|eviction policy/.test(logs), 'No process reported the eviction.')
      return { latenessMs }
    },
  },
  {
    id: 'S86',
    fault: 'the disk of PostgreSQL is full for 10 s',
    moment: '10 POSTs a second',
    expected:
      'POST is answered with 503, and with 201 once there is space; no process ends; accepted tasks are delivered',
    needsRoot: true,
    async run(fixture) {
      const ballast = await moveToSmallDisk(fixture)
      const probes = await startWithProbes(fixture)
      await burst(fixture, 200, { inMs: 40_000 })
      const fill = async () => {
        await lasting(2_000)
        fillDisk(ballast)
        await lasting(10_000)
        const healthy = (await probes.ask('/healthz')).map(({ status }) => status)
        fixture.demand(healthy.join() === '200,200,200', `/healthz answered ${healthy.join()}.`)
        await truncate(ballast, 0)
        if (!(await answers(fixture))) {
          // PostgreSQL ends when it cannot extend its log. Its operator starts it again.
          await fixture.postgres.stop('immediate')
          await fixture.postgres.start()
          fixture.notes.push('PostgreSQL had ended')
        }
        await lasting(8_000)
      }
      const posts = await steadyLoad(fixture, 10, fill())
      demandPosts(fixture, 201, 503)
      const refused = posts.filter(({ status }) => status === 503).length
      fixture.notes.push(`${refused} of ${posts.length} POSTs answered with 503`)
      fixture.demand(refused > 0, 'The disk was not full.')
      const last = posts.at(-1)?.status
      fixture.demand(last === 201, `The last POST was answered with ${last}.`)
      demandAllAlive(fixture)
      return { latenessMs }
    },
  },
]

// Only Linux has /proc, and only Linux runs these rows.
function childrenOf(pid: number): number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, parent] = /\) \w (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
      return Number(parent) === pid ? [Number(name)] : []
    } catch {
      return [] // it has ended
    }
  })
}

async function takeConnections(fixture: Fixture, forMs: number): Promise<pg.Client[]> {
  const clients: pg.Client[] = []
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    const client = new pg.Client({ connectionString: fixture.postgres.url, application_name: 'crowd' })
    client.on('error', () => {})
    try {
      await client.connect()
      clients.push(client)
    } catch {
      await lasting(50) // none is free yet
    }
  }
  return clients
}

async function answers(fixture: Fixture): Promise<boolean> {
  return fixture.sql('SELECT 1').then(
    () => true,
    () => false,
  )
}
