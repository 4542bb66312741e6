import { deployMigrations } from '@belfry/db/migrate/deploy-migrations'
import { setUpRoles } from '@belfry/db/migrate/set-up-roles'
import { openReplica, preferReplica } from '@belfry/db/postgres/open-replica'
import { scopeTo } from '@belfry/db/postgres/scope-to'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { type ReplicatedDatabase, startReplicatedDatabase } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, expect, it } from 'vitest'
import { routes } from '../src/routes.ts'
import { aTaskBody, type Caller, useApi } from './setup.ts'

let database: ReplicatedDatabase
const api = useApi(
  async () => {
    database = await startReplicatedDatabase(async (url, logins) => {
      await deployMigrations(url)
      await setUpRoles(url, logins)
    })
    return {
      DATABASE_URL: database.primaryUrl,
      DATABASE_READ_URL: database.replicaUrl,
      DATABASE_READ_MAX_LAG_MS: '60000', // the tests move its data by hand
    }
  },
  { signsUp: false },
)
afterAll(() => database.close())

const replicaOf = () => {
  if (!api.ctx.readReplica) throw new Error('There is no replica.')
  return api.ctx.readReplica.replica
}
const tasks = '/api/v1/scheduler/tasks'
const as = (caller: Caller) => ({ 'X-Api-Key': caller.apiKey })
const create = (caller: Caller, name: string) => api.send('POST', tasks, aTaskBody({ name }), as(caller))
const names = async (caller: Caller, headers: Record<string, string> = {}) => {
  const { body } = await api.send('GET', tasks, undefined, { ...as(caller), ...headers })
  return body.data.map((task: { name: string }) => task.name)
}

const uuidOf = (kind: 'org' | 'ws', id: string) => fromId(kind, id) ?? ''

// Measures until the replica has all that was committed before.
async function caughtUp(): Promise<void> {
  const since = performance.now()
  await waitFor(
    () => replicaOf().measure(),
    () => replicaOf().isFresh(since),
  )
}

// Returns which servers answered the statements of a call.
async function servers(use: () => Promise<unknown>): Promise<Set<string>> {
  const used = new Set<string>()
  const { listRead } = api.ctx.metrics
  api.ctx.metrics.listRead = server => {
    used.add(server)
    listRead(server)
  }
  await use().finally(() => {
    api.ctx.metrics.listRead = listRead
  })
  return used
}

/** Makes an account with the task "first", which the replica has. */
async function aCaller(): Promise<Caller> {
  const caller = await api.signUp()
  await create(caller, 'first')
  await caughtUp()
  return caller
}

it('answers every list that may be old from the replica', async () => {
  const { workspaceId, organizationId, token } = await aCaller()
  const session = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': workspaceId }
  const paths = [
    'runs',
    'runs/export',
    'runs/failures',
    'runs/counts',
    'tasks',
    'tasks/export',
    'cronjobs',
    `cronjobs/recent-runs?cronjob_id=${toId('cron', newUuid())}`,
    'dead-letters',
    'overview?range=24h',
    'search?q=first',
  ].map(path => `/api/v1/scheduler/${path}`)
  paths.push(`/api/v1/organizations/${organizationId}/runs`, `/api/v1/organizations/${organizationId}/runs/export`)
  for (const path of paths) {
    const used = await servers(async () => {
      const { status, text } = await api.send('GET', path, undefined, session)
      expect(status, `${path}: ${text}`).toBe(200)
    })
    expect([path, ...used]).toEqual([path, 'replica'])
  }
  const flagged = Object.values(routes)
    .flatMap(methods => Object.values(methods))
    .filter(({ mayLag }) => mayLag)
  expect(paths).toHaveLength(flagged.length)
})

it('shows a caller its own write at once, and other callers within the bound', async () => {
  const caller = await aCaller()
  const key = await api.send(
    'POST',
    `/api/v1/workspaces/${caller.workspaceId}/api-keys`,
    { name: 'Other' },
    { Authorization: `Bearer ${caller.token}` },
  )
  const other = { ...caller, apiKey: key.body.key }
  await caughtUp()
  await database.pauseReplay()
  try {
    await create(caller, 'second')
    await replicaOf().measure()
    expect(await names(caller)).toEqual(['second', 'first'])
    expect(await names(other)).toEqual(['first'])
    expect(await names(other, { 'X-Belfry-Read': 'primary' })).toEqual(['second', 'first'])
  } finally {
    await database.resumeReplay()
  }
  await caughtUp()
  expect([...(await servers(() => names(caller)))]).toEqual(['replica'])
  expect(await names(caller)).toEqual(['second', 'first'])
})

it('reads the primary when the replica is older than the bound, and the replica again later', async () => {
  const caller = await api.signUp()
  const options = { name: 'bounded', max: 1, maxLagMs: 500, onError: () => {} }
  const bounded = openReplica(api.ctx.pool, database.replicaUrl, options)
  const anyTime = Number.NEGATIVE_INFINITY
  const reader = async () => {
    await bounded.measure()
    const used: string[] = []
    const pool = preferReplica(api.ctx.pool, bounded, bounded.pool, anyTime, server => used.push(server))
    await pool.query('SELECT 1')
    return used
  }
  const answeredBy = (server: string) => waitFor(reader, ([used]) => used === server)
  await answeredBy('replica')
  await database.pauseReplay()
  try {
    await create(caller, 'while it is paused')
    await answeredBy('primary')
    expect(bounded.ageMs()).toBeGreaterThan(500)
    // More positions than it keeps. The oldest ones still give an age.
    for (let measured = 0; measured <= 100; measured++) await bounded.measure()
    expect(bounded.ageMs()).toBeLessThan(Number.POSITIVE_INFINITY)
  } finally {
    await database.resumeReplay()
  }
  await answeredBy('replica')
  await bounded.pool.end()
})

it('keeps to the rows of the tenant on the replica', async () => {
  const [caller, other] = [await api.signUp(), await api.signUp()]
  const job = { url: 'https://example.com/', method: 'POST', cron: '0 0 1 1 *' }
  await api.send('POST', '/api/v1/scheduler/cronjobs', { ...job, name: 'theirs' }, as(other))
  await api.send('POST', '/api/v1/scheduler/cronjobs', { ...job, name: 'mine' }, as(caller))
  await caughtUp()
  const tenant = { organizationId: uuidOf('org', other.organizationId), workspaceId: uuidOf('ws', other.workspaceId) }
  const { rows } = await scopeTo(replicaOf().pool, tenant).query('SELECT DISTINCT workspace_id AS id FROM cron_jobs')
  expect(rows).toEqual([{ id: tenant.workspaceId }])
  const jobs = (await api.send('GET', '/api/v1/scheduler/cronjobs', undefined, as(other))).body.data
  expect(jobs.map((job: { name: string }) => job.name)).toEqual(['theirs'])
  const own = (await api.send('GET', '/api/v1/scheduler/cronjobs', undefined, as(caller))).body.data
  expect(own).toMatchObject([{ name: 'mine' }])
})

it('reads the primary while the replica is frozen, and after it was killed', async () => {
  const caller = await aCaller()
  await database.freeze()
  try {
    expect(await names(caller)).toEqual(['first'])
    // The first read found out, so the next one does not wait.
    expect([...(await servers(() => names(caller)))]).toEqual(['primary'])
  } finally {
    await database.thaw()
  }
  await caughtUp()
  expect([...(await servers(() => names(caller)))]).toEqual(['replica'])
  await database.kill()
  try {
    expect(await names(caller)).toEqual(['first'])
    await expect(replicaOf().measure()).rejects.toThrow()
    expect([...(await servers(() => names(caller)))]).toEqual(['primary'])
  } finally {
    await database.revive()
  }
  await caughtUp()
  expect([...(await servers(() => names(caller)))]).toEqual(['replica'])
})
