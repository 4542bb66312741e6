import { fromId } from '@belfry/domain/id'
import type { TierLimits } from '@belfry/domain/tiers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { tokenFor } from './sent-mails.ts'
import { type Answer, aTaskBody, type Caller, type Json, useApi } from './setup.ts'

// Fills quotas with one key, faster than this tier allows.
const api = useApi({ RATE_LIMITS: 'off' }, { tier: 'free' })
const scheduler = '/api/v1/scheduler'
const cronJob = { name: 'A cron job', url: 'https://example.com/', method: 'POST', cron: '0 0 1 1 *' }
const event = { topic: 'orders.paid', payload: {}, target_url: 'https://example.com/' }

/** Makes a caller whose tier has the given limits during the test. */
async function aCaller(limits: Partial<TierLimits>): Promise<Caller> {
  const { tiers } = api.ctx.config
  api.ctx.config.tiers = { ...tiers, free: { ...tiers.free, ...limits } }
  onTestFinished(() => {
    api.ctx.config.tiers = tiers
  })
  return api.signUp()
}

let addresses = 0
const withKey = ({ apiKey }: Caller, method: string, path: string, body?: unknown) =>
  api.send(method, scheduler + path, body, { 'X-Api-Key': apiKey })
const asOwner = ({ token }: Caller, method: string, path: string, body?: unknown) =>
  api.send(method, `/api/v1${path}`, body, { Authorization: `Bearer ${token}` })

const statusesOf = (answers: Answer[]) => answers.map(({ status }) => status).sort()
const twenty = (create: (i: number) => Promise<Answer>) => Promise.all(Array.from({ length: 20 }, (_, i) => create(i)))

async function expectHeadroom(headroom: number, create: (i: number) => Promise<Answer>, created = 201): Promise<void> {
  const answers = await twenty(create)
  expect(statusesOf(answers)).toEqual([...Array(headroom).fill(created), ...Array(20 - headroom).fill(402)])
  for (const { status, body } of answers) if (status === 402) expect(body.code).toBe('quota_exceeded')
}

async function countOf(table: string, { workspaceId }: Caller, condition = 'true'): Promise<number> {
  const text = `SELECT count(*)::int AS n FROM ${table} WHERE workspace_id = $1 AND ${condition}`
  const { rows } = await api.db.query<{ n: number }>(text, [fromId('ws', workspaceId)])
  return rows[0]?.n ?? 0
}

describe('of 20 concurrent creations exactly as many succeed as the limit allows:', () => {
  it('tasks, one by one', async () => {
    const caller = await aCaller({ pendingTasks: 7 })
    await expectHeadroom(7, () => withKey(caller, 'POST', '/tasks', aTaskBody()))
    expect(await countOf('tasks', caller)).toBe(7)
  })

  it('tasks, after a count far from the limit', async () => {
    const caller = await aCaller({ pendingTasks: 420 })
    const many = (count: number) => ({ tasks: Array.from({ length: count }, () => aTaskBody()) })
    expect(await withKey(caller, 'POST', '/tasks', aTaskBody())).toMatchObject({ status: 201 })
    expect(await withKey(caller, 'POST', '/tasks/batch', many(408))).toMatchObject({ status: 200 })
    await expectHeadroom(11, () => withKey(caller, 'POST', '/tasks', aTaskBody()))
    expect(await countOf('tasks', caller)).toBe(420)
  })

  it('tasks, each with an Idempotency-Key', async () => {
    const caller = await aCaller({ pendingTasks: 3 })
    const create = (i: number) =>
      api.send('POST', `${scheduler}/tasks`, aTaskBody(), { 'X-Api-Key': caller.apiKey, 'Idempotency-Key': `k${i}` })
    await expectHeadroom(3, create)
    expect(await countOf('tasks', caller)).toBe(3)
  })

  it('tasks in batches, each stored whole or not at all', async () => {
    const caller = await aCaller({ pendingTasks: 10 })
    const four = { tasks: Array.from({ length: 4 }, () => aTaskBody()) }
    await expectHeadroom(2, () => withKey(caller, 'POST', '/tasks/batch', four), 200)
    expect(await countOf('tasks', caller)).toBe(8)
  })

  it('events, which are pending like every task', async () => {
    const caller = await aCaller({ pendingTasks: 4 })
    await expectHeadroom(4, () => api.send('POST', '/api/events', event, { 'X-Api-Key': caller.apiKey }), 202)
  })

  it('replays and triggers, which create a task each', async () => {
    const caller = await aCaller({ pendingTasks: 5, cronJobs: 1 })
    const done = (await withKey(caller, 'POST', '/tasks', aTaskBody())).body.id
    await withKey(caller, 'DELETE', `/tasks/${done}`)
    const { id } = (await withKey(caller, 'POST', '/cronjobs', cronJob)).body
    const paths = [`/tasks/${done}/replay`, `/cronjobs/${id}/trigger`]
    await expectHeadroom(5, i => withKey(caller, 'POST', paths[i % 2] ?? ''))
    expect(await countOf('tasks', caller, `state = 'pending'`)).toBe(5)
  })

  it('cron jobs', async () => {
    const caller = await aCaller({ cronJobs: 6 })
    await expectHeadroom(6, () => withKey(caller, 'POST', '/cronjobs', cronJob))
    expect(await countOf('cron_jobs', caller)).toBe(6)
  })

  it('API keys, one of which exists', async () => {
    const caller = await aCaller({ apiKeys: 5 })
    const path = `/workspaces/${caller.workspaceId}/api-keys`
    await expectHeadroom(4, i => asOwner(caller, 'POST', path, { name: `K${i}` }))
    expect(await countOf('api_keys', caller)).toBe(5)
  })

  it('secrets', async () => {
    const caller = await aCaller({ secrets: 8 })
    const path = `/workspaces/${caller.workspaceId}/secrets`
    await expectHeadroom(8, i => asOwner(caller, 'PUT', `${path}/NAME_${i}`, { value: 'a value' }))
    expect(await asOwner(caller, 'PUT', `${path}/ONE_MORE`, { value: 'another value' })).toMatchObject({ status: 402 })
    const { body } = await asOwner(caller, 'GET', path)
    expect(await asOwner(caller, 'PUT', `${path}/${body.data[0].name}`, { value: 'a new value' })).toMatchObject({
      status: 200,
    })
  })

  it('open invitations', async () => {
    const caller = await aCaller({ invitations: 3 })
    const path = `/organizations/${caller.organizationId}/invitations`
    const invite = (i: number) => asOwner(caller, 'POST', path, { ...anInvitation, email: `guest${i}@example.com` })
    await expectHeadroom(3, invite)
    const { body } = await asOwner(caller, 'GET', path)
    await asOwner(caller, 'DELETE', `${path}/${body.data[0].id}`)
    expect(await invite(99)).toMatchObject({ status: 201 })
    const [open, expired] = body.data.slice(1)
    const resend = async ({ id }: Json) => (await asOwner(caller, 'POST', `${path}/${id}/resend`)).status
    await api.db.query('UPDATE invitations SET expires_at = now() WHERE email = $1', [expired.email])
    expect([await resend(open), await resend(expired)]).toEqual([200, 200])
    await api.db.query('UPDATE invitations SET expires_at = now() WHERE email = $1', [expired.email])
    expect(await invite(100)).toMatchObject({ status: 201 })
    expect([await resend(open), await resend(expired)]).toEqual([200, 402])
  })

  it('members, one of whom is the owner', async () => {
    const caller = await aCaller({ members: 4, invitations: 20 })
    const path = `/organizations/${caller.organizationId}/invitations`
    const guests = Array.from({ length: 20 }, () => `${crypto.randomUUID()}@example.com`)
    for (const email of guests) await asOwner(caller, 'POST', path, { ...anInvitation, email })
    const tokens: string[] = []
    for (const email of guests) tokens.push(await tokenFor(api, email))
    const join = (i: number) => {
      const from = { 'X-Forwarded-For': `192.0.2.${++addresses}` }
      const person = { token: tokens[i], name: 'A guest', password: 'correct horse battery' }
      return api.send('POST', '/api/v1/invitations/accept', person, from)
    }
    await expectHeadroom(3, join, 200)
    const members = await asOwner(caller, 'GET', `/organizations/${caller.organizationId}/members`)
    expect(members.body.data).toHaveLength(4)
  })
})

describe('at the limit of pending tasks', () => {
  it('a request that keeps or replaces the task with its key passes, because it adds none', async () => {
    const caller = await aCaller({ pendingTasks: 2 })
    const create = async (body: Json) => (await withKey(caller, 'POST', '/tasks', aTaskBody(body))).status
    const batch = async (...tasks: Json[]) =>
      (await withKey(caller, 'POST', '/tasks/batch', { tasks: tasks.map(task => aTaskBody(task)) })).status
    const [keep, replace] = (['keep', 'replace'] as const).map(on_conflict => ({ key: 'a', on_conflict }))
    expect([await create({ key: 'a' }), await create({ key: 'b' })]).toEqual([201, 201])
    expect([await create({ ...keep }), await create({ ...replace }), await create({ key: 'a' })]).toEqual([
      200, 200, 409,
    ])
    expect(await batch({ ...keep }, { ...replace }, { key: 'b', on_conflict: 'keep' })).toBe(200)
    const full = [
      await create({}),
      await create({ key: 'c' }),
      await batch({ ...keep }, {}),
      await batch({ ...replace }, { key: 'c' }),
    ]
    expect(full).toEqual([402, 402, 402, 402])
    expect(await countOf('tasks', caller)).toBe(2)
    await aCaller({ pendingTasks: 1 }) // lowers it for all
    expect([await create({ ...keep }), await create({ ...keep, key: 'c' })]).toEqual([200, 402])
    expect(await countOf('tasks', caller)).toBe(2)
  })
})

const anInvitation = { role: 'member', workspace_role: 'viewer' }

describe('headroom returns when', () => {
  it('a task is cancelled, a cron job deleted, or the tier raised', async () => {
    const caller = await aCaller({ pendingTasks: 1, cronJobs: 1 })
    const task = () => withKey(caller, 'POST', '/tasks', aTaskBody())
    const job = () => withKey(caller, 'POST', '/cronjobs', cronJob)
    const [first, firstJob] = [(await task()).body.id, (await job()).body.id]
    expect([(await task()).status, (await job()).status]).toEqual([402, 402])
    await withKey(caller, 'DELETE', `/tasks/${first}`)
    await withKey(caller, 'DELETE', `/cronjobs/${firstJob}`)
    expect([(await task()).status, (await job()).status]).toEqual([201, 201])
    await asOwner(caller, 'PUT', `/organizations/${caller.organizationId}/subscription`, { tier: 'startup' })
    expect([(await task()).status, (await job()).status]).toEqual([201, 201])
  })
})

describe('a payload', () => {
  // The JSON text has this many bytes, and fewer characters.
  const ofBytes = (bytes: number) => `ü${'x'.repeat(bytes - 4)}`
  const sendings: Array<[string, number, (caller: Caller, payload: string) => Promise<Answer>]> = [
    ['a task', 201, (caller, payload) => withKey(caller, 'POST', '/tasks', aTaskBody({ payload }))],
    ['a cron job', 201, (caller, payload) => withKey(caller, 'POST', '/cronjobs', { ...cronJob, payload })],
    [
      'an event',
      202,
      (caller, payload) => {
        const body = { ...event, payload: { t: payload.slice(0, -'{"t":}'.length) } }
        return api.send('POST', '/api/events', body, { 'X-Api-Key': caller.apiKey })
      },
    ],
    [
      'a changed task',
      200,
      async (caller, payload) => {
        const { id } = (await withKey(caller, 'POST', '/tasks', aTaskBody())).body
        return withKey(caller, 'PATCH', `/tasks/${id}`, { payload })
      },
    ],
    [
      'a changed cron job',
      200,
      async (caller, payload) => {
        const { id } = (await withKey(caller, 'POST', '/cronjobs', cronJob)).body
        return withKey(caller, 'PATCH', `/cronjobs/${id}`, { payload })
      },
    ],
  ]

  it.each(sendings)('of %s may have as many bytes as the tier allows, and no more', async (_, status, send) => {
    const caller = await aCaller({ payloadBytes: 1_000 })
    expect(await send(caller, ofBytes(1_000))).toMatchObject({ status })
    expect(await send(caller, ofBytes(1_001))).toMatchObject({ status: 402, body: { code: 'quota_exceeded' } })
  })

  it('of a row of a batch fails alone', async () => {
    const caller = await aCaller({ payloadBytes: 1_000 })
    const tasks = [1_001, 1_000].map(bytes => aTaskBody({ payload: ofBytes(bytes) }))
    const { body } = await withKey(caller, 'POST', '/tasks/batch', { tasks })
    expect(body.data).toMatchObject([{ error: { code: 'quota_exceeded' } }, { task: { state: 'pending' } }])
  })

  it('may fill a request in every tier', async () => {
    const caller = await aCaller({})
    const body = JSON.stringify(aTaskBody({ payload: '' }))
    const payload = 'x'.repeat(256 * 1024 - body.length)
    expect(await withKey(caller, 'POST', '/tasks', aTaskBody({ payload }))).toMatchObject({ status: 201 })
    expect(await withKey(caller, 'POST', '/tasks', aTaskBody({ payload: `${payload}x` }))).toMatchObject({
      status: 413,
    })
  })
})
