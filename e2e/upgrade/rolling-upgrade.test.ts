import { randomBytes } from 'node:crypto'
import { freePort } from '@belfry/embedded'
import { createEmptyDatabase, type Receiver, startReceiver, type TestDatabase } from '@belfry/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callApi, signUp } from '../api-calls.ts'
import { type RunningService, type ServiceName, startService } from '../processes.ts'
import { type SteadyPosts, startSteadyPosts } from '../scaling/steady-posts.ts'
import { waitFor } from '../wait-for.ts'
import { bundlePreviousRelease, deploy, hasPreviousRelease, previousBundle } from './previous-release.ts'

const names: ServiceName[] = ['api', 'scheduler', 'dispatcher']

describe.runIf(hasPreviousRelease())('an upgrade from the previous release, under load', () => {
  let database: TestDatabase
  let target: Receiver
  let sql: pg.Client
  const running: RunningService[] = []
  beforeAll(async () => {
    await bundlePreviousRelease()
    ;[database, target] = await Promise.all([createEmptyDatabase(), startReceiver()])
    await deploy('previous', database.url)
    sql = new pg.Client({ connectionString: database.url })
    await sql.connect()
  }, 180_000)
  afterAll(async () => {
    await Promise.all(running.map(service => service.stop('SIGKILL')))
    await sql?.end()
    await database?.drop()
    await target?.close()
  })

  it('works at every step: old tables, new tables under old processes, both versions side by side, the new alone', async () => {
    const secrets = { JWT_SECRET: randomBytes(32).toString('hex'), ENCRYPTION_KEYS: masterKey() }
    const start = async (version: 'this' | 'previous', port: number) => {
      const env = { ...settings(database.url, port), ...secrets }
      const bundle = (name: ServiceName) => (version === 'this' ? undefined : previousBundle(name))
      const started = await Promise.all(names.map(name => startService(name, env, bundle(name))))
      running.push(...started)
      return started
    }
    const [oldPort, newPort] = [await freePort(), await freePort()]
    const [oldUrl, newUrl] = [oldPort, newPort].map(port => `http://127.0.0.1:${port}`) as [string, string]

    const old = await start('previous', oldPort)
    const caller = await signUp(oldUrl)
    const loads: SteadyPosts[] = []
    const load = (url: string, name: string) => loads.push(startSteadyPosts(url, caller, target, 5_000, name))
    const arrive = (count: number) => target.waitFor(target.requests.length + count, 30_000)
    load(oldUrl, 'old')
    await arrive(20)

    const applied = await deploy('this', database.url)
    expect(applied.length).toBeGreaterThan(0) // or this shows nothing: see previousRelease
    await arrive(20) // the old processes on the new tables

    await start('this', newPort)
    load(newUrl, 'new')
    await arrive(60)
    // Each reads what the other has made.
    const list = '/api/v1/scheduler/tasks?limit=100'
    const lists = await Promise.all([oldUrl, newUrl].map(url => callApi(url, caller, 'GET', list)))
    expect(lists.filter(({ status }) => status !== 200)).toEqual([]) // and says what a refusal says
    for (const { body } of lists) {
      const kinds = new Set(body.data.map(({ name }: { name: string }) => name.split('-')[0]))
      expect(kinds).toEqual(new Set(['old', 'new']))
    }

    await loads[0]?.stop()
    expect(await Promise.all(old.map(service => service.stop('SIGTERM')))).toEqual([0, 0, 0])
    await arrive(20)
    await loads[1]?.stop()

    const accepted = loads.flatMap(({ accepted }) => accepted)
    await waitFor(
      async () => (await sql.query(`SELECT id FROM tasks WHERE state <> 'success'`)).rows,
      unfinished => unfinished.length === 0,
      60_000,
    )
    expect(target.requests.map(({ path }) => path).sort()).toEqual([...accepted].sort())
    // Neither version refused a create, or lost its answer, while the other one was there.
    expect(loads.map(({ repeated }) => repeated)).toEqual([0, 0])
  }, 150_000)
})

function settings(databaseUrl: string, port: number): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    RATE_LIMITS: 'off',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DEFAULT_TIER: 'unicorn',
  }
}

function masterKey(): string {
  return `k1:${randomBytes(32).toString('base64')}`
}
