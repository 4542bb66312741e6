import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findPreload } from '../find-preload.ts'
import { load } from '../fixture/load.ts'
import { burst, called, lasting, untilInState } from '../fixture/moments.ts'
import { startProxy } from '../fixture/proxy.ts'
import type { Row } from '../row.ts'

/** Targets attack or are away, or a dispatcher runs out of a resource. */
export const targets: Row[] = [
  {
    id: 'F64',
    fault: 'bodies and headers without end, 60 at once',
    moment: 'load',
    expected: 'the dispatcher stays below 400 MB and lives; another workspace’s tasks are less than 10 s late',
    async run(fixture) {
      // Otherwise a slow machine opens the circuit breaker before all of them are called, and then calls three in half a minute.
      const { dispatcher } = await fixture.startAll({ dispatcher: { env: { CIRCUIT_FAILURE_PERCENT: '0' } } })
      const hostile = { caller: 0, maxRetries: 1 } as const
      await burst(fixture, 20, { ...hostile, path: '/endless', answers: [{ does: 'endless_body' }] })
      await burst(fixture, 20, { ...hostile, path: '/headers', answers: [{ does: 'huge_headers', bytes: 10_000_000 }] })
      await burst(fixture, 20, { ...hostile, path: '/flood', answers: [{ does: 'informational_flood' }] })
      await load(fixture, { tasks: 40, someFail: false })
      await untilInState(fixture, ['success', 'dead'], 100, 150_000)
      const [others] = await fixture.sql<{ lateS: number }>(
        `SELECT max(extract(epoch FROM started_at - scheduled_at))::float8 AS "lateS" FROM runs WHERE workspace_id NOT IN (
           SELECT workspace_id FROM tasks JOIN task_requests ON task_id = id WHERE url LIKE '%/endless')`,
      )
      fixture.notes.push(`the other workspace at most ${others?.lateS.toFixed(1)} s late`)
      fixture.demand((others?.lateS ?? 60) < 10, `The other workspace's tasks were ${others?.lateS} s late.`)
      const status = await readFile(`/proc/${dispatcher.pid}/status`, 'utf8').catch(() => '')
      const peakMb = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
      fixture.notes.push(`peak ${peakMb.toFixed(0)} MB`)
      fixture.demand(peakMb < 400, `The dispatcher took ${peakMb} MB.`)
      fixture.demand(dispatcher.isRunning(), 'The dispatcher ended.')
      return { latenessMs: 30_000 }
    },
  },
  {
    id: 'F65',
    fault: 'the target is down for 60 s',
    moment: 'load',
    expected: 'all succeed in the end; the retries are spread',
    async run(fixture) {
      const proxy = await startProxy(Number(new URL(fixture.target.url('/')).port))
      await proxy.set({ does: 'refuse' })
      try {
        await fixture.startAll()
        await burst(fixture, 40, {
          path: '/away',
          url: `http://127.0.0.1:${proxy.port}/away`,
          baseDelayMs: 15_000,
          maxRetries: 8,
        })
        await lasting(60_000)
        await proxy.set({ does: 'pass' })
        await untilInState(fixture, ['success'], 40, 60_000)
        const [spread] = await fixture.sql<{ ms: number }>(
          'SELECT extract(epoch FROM max(started_at) - min(started_at))::float8 * 1000 AS ms FROM runs WHERE attempt = 2',
        )
        fixture.notes.push(`the first retries are spread over ${Math.round(spread?.ms ?? 0)} ms`)
        fixture.demand((spread?.ms ?? 0) > 1_000, `The first retries took place within ${spread?.ms} ms.`)
        return { latenessMs: 120_000 }
      } finally {
        await proxy.close()
      }
    },
  },
  {
    id: 'F66',
    fault: 'names cannot be resolved for 30 s',
    moment: 'load',
    expected: 'those attempts fail and are tried again; targets named by address do not notice',
    needs: 'libnss_wrapper.so',
    async run(fixture) {
      const hosts = join(fixture.folder, 'hosts')
      await writeFile(hosts, '127.0.0.1 localhost\n')
      const env = { LD_PRELOAD: findPreload('libnss_wrapper.so') ?? '', NSS_WRAPPER_HOSTS: hosts }
      await fixture.startAll({ dispatcher: { env } })
      const { port } = new URL(fixture.target.url('/'))
      const byName = { url: `http://target.belfry-fixture.dev:${port}/named`, baseDelayMs: 5_000, maxRetries: 15 }
      await burst(fixture, 10, { path: '/named', ...byName })
      await burst(fixture, 10, { path: '/literal' })
      await called(fixture, 10)
      await lasting(30_000)
      fixture.demand(fixture.target.count('/named') === 0, 'A name was resolved.')
      await writeFile(hosts, '127.0.0.1 localhost\n127.0.0.1 target.belfry-fixture.dev\n')
      await untilInState(fixture, ['success'], 20, 60_000)
      const [failed] = await fixture.sql<{ codes: string }>(
        `SELECT string_agg(DISTINCT error_code, ',') AS codes FROM runs WHERE status = 'failed'`,
      )
      fixture.demand(failed?.codes === 'dns', `The attempts failed with ${failed?.codes}.`)
      return {}
    },
  },
  {
    id: 'F69',
    fault: 'the dispatcher runs out of memory (a heap of 30 MB)',
    moment: 'load',
    expected: 'as F07 for what was in flight; delivered by its successor',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll({
        dispatcher: { env: { NODE_OPTIONS: '--max-old-space-size=30' } },
      })
      const payload = 'x'.repeat(200_000)
      await burst(fixture, 200, { payload, inMs: 8_000, answers: [{ status: 200, delayMs: 600 }] })
      const ended = await Promise.race([dispatcher.ended, lasting(15_000).then(() => 'lived')])
      fixture.notes.push(`the dispatcher ${ended === 'lived' ? 'lived' : `ended with ${ended}`}`)
      if (ended !== 'lived') await fixture.start('dispatcher')
      return { latenessMs: 60_000 }
    },
  },
  {
    id: 'F70',
    fault: 'the dispatcher has no file descriptors left (64)',
    moment: 'load',
    expected: 'attempts wait for descriptors and none fails; it lives and recovers',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const limited = spawnSync('prlimit', ['--pid', String(dispatcher.pid), '--nofile=64:1024'])
      fixture.demand(limited.status === 0, 'prlimit did not work.')
      await burst(fixture, 150, { answers: [{ status: 200, delayMs: 700 }], maxRetries: 10 })
      await untilInState(fixture, ['success'], 150, 60_000)
      fixture.demand(dispatcher.isRunning(), 'The dispatcher ended.')
      const failed = await fixture.count(`runs WHERE status = 'failed'`)
      fixture.demand(failed === 0, `${failed} attempts failed.`)
      return {}
    },
  },
]
