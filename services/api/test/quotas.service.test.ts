import { newUuid } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { readQuota, refuseOverQuota } from '../src/quotas/quotas.ts'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const api = useApi({}, { tier: 'free' })
const tasks = '/api/v1/scheduler/tasks'
const aCronJobBody = { name: 'A job', url: 'https://example.com/', method: 'POST', cron: '0 9 1 1 *' }

const uuidOf = async (caller: Caller): Promise<string> => {
  const text =
    'SELECT o.id FROM organizations o JOIN memberships m ON m.organization_id = o.id JOIN users u ON u.id = m.user_id WHERE u.email = $1'
  return (await api.db.query(text, [caller.email])).rows[0].id
}
const asOwner = (caller: Caller, method: string, path: string, body?: unknown) =>
  api.send(method, `/api/v1/organizations/${caller.organizationId}${path}`, body, {
    Authorization: `Bearer ${caller.token}`,
  })
const withKey = (caller: Caller, method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { 'X-Api-Key': caller.apiKey })

async function setUse(organizationId: string, use: { executions?: number; bytes?: number }): Promise<void> {
  const { executions = 0, bytes = 0 } = use
  const counted = `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
                   VALUES (utc_month(now()), $1, $2, 0, 0, 10000)
                   ON CONFLICT (month, organization_id) DO UPDATE SET executions = excluded.executions`
  await api.db.query(counted, [organizationId, executions])
  const stored = `INSERT INTO storage (organization_id, bytes) VALUES ($1, $2)
                  ON CONFLICT (organization_id) DO UPDATE SET bytes = excluded.bytes`
  await api.db.query(stored, [organizationId, bytes])
  api.ctx.usageCache.delete(organizationId)
}

describe('works', () => {
  it('shows the owner the usage of the tier, day by day', async () => {
    const caller = await api.signUp()
    const organizationId = await uuidOf(caller)
    await setUse(organizationId, { executions: 42, bytes: 1234 })
    const day = `INSERT INTO usage_days (organization_id, day, executions, failed) VALUES ($1, (now() AT TIME ZONE 'UTC')::date, 42, 3)`
    await api.db.query(day, [organizationId])
    const answer = await asOwner(caller, 'GET', '/usage')
    expect(answer).toMatchObject({ status: 200 })
    const now = new Date()
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth())).toISOString()
    expect(answer.body).toMatchObject({
      period: { start },
      executions: { used: 42, limit: 10_000 },
      storage_bytes: { used: 1234, limit: 100_000_000 },
      workspaces: { used: 1, limit: 2 },
    })
    expect(answer.body.daily).toHaveLength(now.getUTCDate())
    const today = { date: now.toISOString().slice(0, 10), executions: 42, failed: 3 }
    expect(answer.body.daily.at(-1)).toEqual(today)
    expect(answer.body.daily[0].date).toBe(start.slice(0, 10))
    const { daily: _, ...usage } = answer.body
    expect((await asOwner(caller, 'GET', '')).body.usage).toEqual(usage)
  })

  it('changes the tier and its limits at once', async () => {
    const caller = await api.signUp()
    const before = await asOwner(caller, 'GET', '/subscription')
    expect(before.body).toMatchObject({ tier: 'free', limits: { executions: 10_000, log_days: 7, workspaces: 2 } })
    await setUse(await uuidOf(caller), { bytes: 100_000_001 })
    expect(await withKey(caller, 'POST', tasks, aTaskBody())).toMatchObject({ status: 402 })
    const changed = await asOwner(caller, 'PUT', '/subscription', { tier: 'scaleup' })
    expect(changed).toMatchObject({ status: 200, body: { tier: 'scaleup', limits: { storage_bytes: 50_000_000_000 } } })
    expect((await asOwner(caller, 'GET', '/subscription')).body).toEqual(changed.body)
    expect(await withKey(caller, 'POST', tasks, aTaskBody())).toMatchObject({ status: 201 })
  })
})

describe('refuses', () => {
  it('a workspace over the limit, exactly, under 20 concurrent creations', async () => {
    const caller = await api.signUp()
    const create = (_: unknown, i: number) => asOwner(caller, 'POST', '/workspaces', { name: `Workspace ${i}` })
    const answers = await Promise.all(Array.from({ length: 20 }, create))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(19).fill(402)])
    const refused = answers.find(({ status }) => status === 402)
    expect(refused?.body).toMatchObject({ code: 'workspace_limit_reached', detail: expect.stringContaining('2') })
    await asOwner(caller, 'PUT', '/subscription', { tier: 'startup' })
    expect(await asOwner(caller, 'POST', '/workspaces', { name: 'More' })).toMatchObject({ status: 201 })
  })

  it('tasks and cron jobs over the storage quota, and leaves the executions to the claim', async () => {
    const caller = await api.signUp()
    const organizationId = await uuidOf(caller)
    const job = await withKey(caller, 'POST', '/api/v1/scheduler/cronjobs', aCronJobBody)
    const creations = () =>
      Promise.all([
        withKey(caller, 'POST', tasks, aTaskBody()),
        withKey(caller, 'POST', '/api/v1/scheduler/cronjobs', aCronJobBody),
        withKey(caller, 'POST', `/api/v1/scheduler/cronjobs/${job.body.id}/trigger`),
      ])
    await setUse(organizationId, { bytes: 100_000_001 })
    for (const answer of await creations())
      expect(answer).toMatchObject({ status: 402, body: { code: 'quota_exceeded' } })
    await setUse(organizationId, { executions: 10_000, bytes: 100_000_000 })
    for (const answer of await creations()) expect(answer).toMatchObject({ status: 201 })
  })

  it('a start at once when the month has no executions left', async () => {
    const organizationId = await uuidOf(await api.signUp())
    await setUse(organizationId, { executions: 9_999 })
    refuseOverQuota(await readQuota(api.ctx, organizationId), 'at_once')
    await setUse(organizationId, { executions: 10_000 })
    const exhausted = await readQuota(api.ctx, organizationId)
    refuseOverQuota(exhausted, 'later')
    expect(() => refuseOverQuota(exhausted, 'at_once')).toThrow(expect.objectContaining({ code: 'quota_exceeded' }))
    refuseOverQuota(await readQuota(api.ctx, newUuid()), 'at_once')
  })

  it('more cron jobs and API keys than the tier allows', async () => {
    const caller = await api.signUp()
    const { tiers } = api.ctx.config
    api.ctx.config.tiers = { ...tiers, free: { ...tiers.free, cronJobs: 2, apiKeys: 2 } }
    const job = () => withKey(caller, 'POST', '/api/v1/scheduler/cronjobs', aCronJobBody)
    const keys = `/api/v1/workspaces/${caller.workspaceId}/api-keys`
    const key = () => api.send('POST', keys, { name: 'K' }, { Authorization: `Bearer ${caller.token}` })
    const statuses = [await job(), await job(), await job(), await key(), await key()].map(({ status }) => status)
    api.ctx.config.tiers = tiers
    expect(statuses).toEqual([201, 201, 402, 201, 402])
  })

  it.each([[{}], [{ tier: 'gold' }], [{ tier: 'free', limits: {} }]])('the subscription %j', async body => {
    expect(await asOwner(await api.signUp(), 'PUT', '/subscription', body)).toMatchObject({
      status: 400,
      body: { code: 'validation_failed' },
    })
  })
})

describe('permits', () => {
  it.each([
    ['GET', '/usage'],
    ['GET', '/subscription'],
    ['PUT', '/subscription'],
  ])('%s %s to owners only', async (method, path) => {
    const caller = await api.signUp()
    const body = method === 'PUT' ? { tier: 'unicorn' } : undefined
    const url = `/api/v1/organizations/${caller.organizationId}${path}`
    const stranger = await api.signUp()
    const as = (headers: Record<string, string>) => api.send(method, url, body, headers)
    expect(await as({})).toMatchObject({ status: 401 })
    expect(await as({ Authorization: `Bearer ${stranger.token}` })).toMatchObject({ status: 404 })
    expect(await as({ 'X-Api-Key': caller.apiKey })).toMatchObject({ status: 403 })
    const text = 'UPDATE memberships SET role = $2 WHERE organization_id = $1'
    for (const [role, status] of [
      ['admin', 403],
      ['member', 403],
      ['owner', 200],
    ] as const) {
      await api.db.query(text, [await uuidOf(caller), role])
      expect(await as({ Authorization: `Bearer ${caller.token}` })).toMatchObject({ status })
    }
  })
})
