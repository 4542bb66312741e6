import { fromId, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { anOperator, anOrganization } from './organization.ts'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const operatorAddress = 'root@operators.example'
const listed = ['unknown@operators.example', 'second@operators.example', operatorAddress.toUpperCase()]
const api = useApi({ OPERATORS: listed.join(', ') })
const base = '/api/v1/operator'

const password = 'correct horse battery'
let session: Record<string, string> | undefined

/** Calls as an operator. */
async function operate(method: string, path: string, body?: unknown) {
  if (!session) {
    const operator = await anOperator(api, operatorAddress)
    session = operator.session
  }
  return api.send(method, base + path, body, session)
}

const keyOf = ({ apiKey }: Caller) => ({ 'X-Api-Key': apiKey })
const sessionOf = ({ token, workspaceId }: Caller) => ({
  Authorization: `Bearer ${token}`,
  'X-Workspace-Id': workspaceId,
})
const tasks = '/api/v1/scheduler/tasks'

async function answersOf(tenant: Caller): Promise<unknown[]> {
  const answers = [
    await api.send('POST', tasks, aTaskBody(), keyOf(tenant)),
    await api.send('GET', tasks, undefined, sessionOf(tenant)),
    await api.send('GET', `/api/v1/organizations/${tenant.organizationId}`, undefined, sessionOf(tenant)),
  ]
  return answers.map(({ status, body }) => body.code ?? status)
}

const log = async () => (await operate('GET', '/log')).body.data as Json[]

async function userOf(tenant: Caller): Promise<string> {
  const { body } = await api.send('GET', '/api/v1/auth/me', undefined, sessionOf(tenant))
  return body.user.id
}

it('refuses users who are no operators, and callers without a session', async () => {
  const { token, apiKey } = await api.signUp()
  const answer = await api.send('GET', `${base}/organizations`, undefined, { Authorization: `Bearer ${token}` })
  expect([answer.status, answer.body.code]).toEqual([403, 'forbidden'])
  expect((await api.send('GET', `${base}/organizations`, undefined, { 'X-Api-Key': apiKey })).status).toBe(401)
})

describe('an operator', () => {
  const read = async (headers: Record<string, string>) => {
    const { status, body } = await api.send('GET', `${base}/organizations`, undefined, headers)
    return body.code ?? status
  }

  it('is no stranger who registers the address, and has used a second factor', async () => {
    const email = 'unknown@operators.example'
    const { token } = (await api.send('POST', '/api/v1/auth/register', { email, password, name: 'Eve' })).body
    const own = { Authorization: `Bearer ${token}` }
    const useFactor = `UPDATE sessions SET has_second_factor = $2 WHERE user_id = (SELECT id FROM users WHERE email = $1)`
    await api.db.query(useFactor, [email, true])
    const isOperator = async () => (await api.send('GET', '/api/v1/auth/me', undefined, own)).body.is_operator
    expect([await read(own), await isOperator()]).toEqual(['forbidden', false])
    await api.db.query('UPDATE users SET email_confirmed_at = now() WHERE email = $1', [email])
    expect([await read(own), await isOperator()]).toEqual([200, true])
    await api.db.query(useFactor, [email, false])
    expect(await read(own)).toBe('second_factor_required')
  })

  it('suspends, sets tiers and removes factors only within ten minutes after a confirmation', async () => {
    const [{ userId, session: own }, tenant] = [await anOperator(api, 'second@operators.example'), await api.signUp()]
    await api.db.query(`UPDATE sessions SET created_at = now() - interval '11 minutes' WHERE user_id = $1`, [userId])
    const user = await userOf(tenant)
    const acts = [
      ['PUT', `/organizations/${tenant.organizationId}/tier`, { tier: 'startup' }],
      ['POST', `/organizations/${tenant.organizationId}/suspend`, {}],
      ['POST', `/users/${user}/factors/reset`, {}],
    ] as const
    const codes = []
    for (const [method, path, body] of acts) codes.push((await api.send(method, base + path, body, own)).body.code)
    expect([codes, await read(own)]).toEqual([Array(3).fill('step_up_required'), 200])
    await api.db.query('UPDATE sessions SET confirmed_at = now() WHERE user_id = $1', [userId])
    const statuses = []
    for (const [method, path, body] of acts) statuses.push((await api.send(method, base + path, body, own)).status)
    expect(statuses).toEqual([204, 204, 204])
  })
})

describe('suspension', () => {
  it.each(['organizations', 'workspaces', 'users'])(
    'refuses the callers of suspended %s until they are resumed',
    async kind => {
      const tenant = await api.signUp()
      const other = await api.signUp()
      const ids = { organizations: tenant.organizationId, workspaces: tenant.workspaceId, users: await userOf(tenant) }
      const id = ids[kind as keyof typeof ids]
      expect(await answersOf(tenant)).toEqual([201, 200, 200])
      const reason = 'A flood of calls'
      for (let i = 0; i < 2; i++) expect((await operate('POST', `/${kind}/${id}/suspend`, { reason })).status).toBe(204)
      expect(await answersOf(tenant)).toEqual(['suspended', 'suspended', kind === 'workspaces' ? 200 : 'suspended'])
      expect(await answersOf(other)).toEqual([201, 200, 200])
      expect((await operate('POST', `/${kind}/${id}/resume`)).status).toBe(204)
      expect(await answersOf(tenant)).toEqual([201, 200, 200])
      const entries = (await log()).filter(({ object_id }) => object_id === id)
      const name = kind.slice(0, -1)
      expect(entries.map(({ action, details, operator }) => [action, details, operator])).toEqual([
        [`${name}.resumed`, {}, operatorAddress],
        [`${name}.suspended`, { reason }, operatorAddress],
      ])
    },
  )

  it('of a user cannot be ended by another owner of the organization', async () => {
    const { id, workspaceId, owner, add, apiKey } = await anOrganization(api)
    const [other, key] = [await add('owner', 'editor'), await apiKey()]
    const admin = await add('admin')
    await api.db.query(`UPDATE memberships SET joined_at = joined_at - interval '1 day' WHERE user_id = $1`, [
      admin.userId,
    ])
    expect((await operate('POST', `/users/${owner.id}/suspend`, {})).status).toBe(204)
    const organization = `/api/v1/organizations/${id}`
    const tries = [
      ['PATCH', `${organization}/members/${owner.id}`, { role: 'admin' }],
      ['PATCH', `${organization}/members/${admin.id}`, { role: 'owner' }],
      ['DELETE', `${organization}/members/${owner.id}`],
      ['POST', `${organization}/transfer`, { user_id: admin.id }],
      ['GET', tasks],
    ] as const
    for (const [method, path, body] of tries) {
      const answer = await api.send(method, path, body, { ...other.session, 'X-Workspace-Id': workspaceId })
      expect([answer.status, answer.body.code], path).toEqual([403, 'suspended'])
    }
    expect((await api.send('GET', tasks, undefined, key)).body.code).toBe('suspended')
    expect((await operate('POST', `/users/${owner.id}/resume`)).status).toBe(204)
    expect((await api.send('DELETE', `${organization}/members/${owner.id}`, undefined, other.session)).status).toBe(204)
  })

  it('refuses an unknown organization, a deleted one and a malformed id alike', async () => {
    const tenant = await api.signUp()
    await api.db.query('UPDATE organizations SET deleted_at = now() WHERE id = $1', [
      fromId('org', tenant.organizationId),
    ])
    for (const id of [tenant.organizationId, toId('org', crypto.randomUUID()), 'nonsense'])
      expect((await operate('POST', `/organizations/${id}/suspend`)).status).toBe(404)
  })
})

it('lists organizations with their account and usage, finds them by name and by an owner, page by page', async () => {
  const tenant = await api.signUp()
  const { body } = await operate('GET', `/organizations?search=${encodeURIComponent(tenant.email.slice(0, 30))}`)
  expect(body.data).toEqual([
    {
      ...{ id: tenant.organizationId, name: 'Acme', slug: expect.any(String), tier: 'unlimited' },
      account: { user_id: await userOf(tenant), email: tenant.email, suspended_at: null },
      ...{ suspended_at: null, workspaces: 1, in_flight: 0, executions: 0, storage_bytes: 0, failed_today: 0 },
      ...{ runs_per_minute: 0, mails: 0 },
      created_at: expect.any(String),
    },
  ])
  expect((await operate('GET', '/organizations?search=100%25')).body.data).toEqual([])
  const first = (await operate('GET', '/organizations?limit=1')).body
  const second = (await operate('GET', `/organizations?limit=1&cursor=${first.next_cursor}`)).body
  expect(second.data[0].id).not.toBe(first.data[0].id)
  await operate('POST', `/organizations/${tenant.organizationId}/suspend`)
  const suspended = (await operate('GET', '/organizations?suspended=true&limit=100')).body.data
  expect(suspended.map(({ id }: Json) => id)).toContain(tenant.organizationId)
})

it.each([
  [
    'executions',
    'INSERT INTO usage (organization_id, month, executions, wanted, granted, execution_limit) VALUES ($1, utc_month(now()), 100000000, 1, 1, 200000000)',
  ],
  [
    'storage',
    'INSERT INTO storage (organization_id, bytes) VALUES ($1, 1e12) ON CONFLICT (organization_id) DO UPDATE SET bytes = 1e12',
  ],
  [
    'failed_today',
    `INSERT INTO usage_days (organization_id, day, executions, failed) VALUES ($1, (now() AT TIME ZONE 'UTC')::date, 0, 1000000)`,
  ],
  [
    'rate',
    `INSERT INTO run_statistics (workspace_id, period, starts_at, lag_bucket, total, failed)
     SELECT id, 1, date_trunc('minute', now()) - interval '1 minute', 0, 1000000, 0
     FROM workspaces WHERE organization_id = $1`,
  ],
  [
    'mails',
    `INSERT INTO outbox (id, kind, label, expires_at, organization_id)
     SELECT gen_random_uuid(), 'mail', 'invitation', now(), $1::uuid FROM generate_series(1, 50)`,
  ],
  [
    'in_flight',
    `INSERT INTO tasks (id, workspace_id, source, due_at, execute_at, state, lease_until)
     SELECT gen_random_uuid(), w.id, 'task', now(), now(), 'processing', now() + interval '1 hour'
     FROM workspaces w, generate_series(1, 50) WHERE w.organization_id = $1`,
  ],
])('lists the organization that uses most first, by %s', async (sort, use) => {
  const tenant = await api.signUp()
  await api.signUp()
  await api.db.query(use, [fromId('org', tenant.organizationId)])
  const { status, body } = await operate('GET', `/organizations?sort=${sort}&limit=1`)
  expect([status, body.data.length, body.data[0].id, body.next_cursor]).toEqual([200, 1, tenant.organizationId, null])
})

it('counts no execution that a dispatcher has reserved and not spent', async () => {
  const [tenant, busier] = [await api.signUp(), await api.signUp()]
  const reserve = (organization: string, executions: number, unspent: number) =>
    api.db.query(
      `WITH used AS (
         INSERT INTO usage (organization_id, month, executions, wanted, granted, execution_limit)
         VALUES ($1, utc_month(now()), $2, 1, 1, 1e9)
       )
       INSERT INTO execution_blocks (organization_id, month, dispatcher_id, unspent, execution_limit)
       VALUES ($1, utc_month(now()), gen_random_uuid(), $3, 1e9)`,
      [fromId('org', organization), executions, unspent],
    )
  const name = crypto.randomUUID()
  await api.db.query('UPDATE organizations SET name = $1 WHERE id IN ($2, $3)', [
    name,
    fromId('org', tenant.organizationId),
    fromId('org', busier.organizationId),
  ])
  await reserve(tenant.organizationId, 10_000_000, 9_999_997)
  await reserve(busier.organizationId, 9_000_000, 1_000_000)
  expect((await operate('GET', `/organizations/${tenant.organizationId}`)).body.executions).toBe(3)
  const { data } = (await operate('GET', `/organizations?sort=executions&limit=1&search=${name}`)).body
  expect([data[0].id, data[0].executions]).toEqual([busier.organizationId, 8_000_000])
})

it('counts the mails of an organization in the last day', async () => {
  const tenant = await api.signUp()
  const path = `/api/v1/organizations/${tenant.organizationId}/invitations`
  const invitation = { email: `${crypto.randomUUID()}@example.com`, role: 'admin' }
  expect((await api.send('POST', path, invitation, sessionOf(tenant))).status).toBe(201)
  const mails = async () => (await operate('GET', `/organizations/${tenant.organizationId}`)).body.mails
  expect(await mails()).toBe(1)
  await api.db.query(`UPDATE outbox SET created_at = now() - interval '25 hours' WHERE organization_id = $1`, [
    fromId('org', tenant.organizationId),
  ])
  expect(await mails()).toBe(0)
})

it('shows the workspaces and members of an organization, and sets its tier', async () => {
  const tenant = await api.signUp()
  const path = `/organizations/${tenant.organizationId}`
  expect((await operate('PUT', `${path}/tier`, { tier: 'startup' })).status).toBe(204)
  const { body } = await operate('GET', path)
  expect([body.tier, body.due_tasks]).toEqual(['startup', 0])
  const { executions, storageBytes } = api.ctx.config.tiers.free
  const [free, unlimited] = [body.tier_limits[0], body.tier_limits.at(-1)]
  expect(free).toEqual({ tier: 'free', executions, storage_bytes: storageBytes })
  expect(unlimited).toEqual({ tier: 'unlimited', executions: null, storage_bytes: null })
  const due = (await api.send('POST', tasks, aTaskBody(), keyOf(tenant))).body
  await api.send('POST', tasks, aTaskBody(), keyOf(tenant))
  await api.db.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [fromId('task', due.id)])
  expect((await operate('GET', path)).body.due_tasks).toBe(1)
  expect(body.workspace_list).toMatchObject([
    { id: tenant.workspaceId, name: 'Main', suspended_at: null, in_flight: 0 },
  ])
  expect(body.member_list).toMatchObject([{ email: tenant.email, role: 'owner', suspended_at: null }])
  expect((await log())[0]).toMatchObject({
    action: 'organization.tier_set',
    details: { from: 'unlimited', to: 'startup' },
  })
})

it('finds the workspaces that call a host', async () => {
  const tenant = await api.signUp()
  const url = 'https://Victim.example:8443/hook?a=b'
  await api.send('POST', tasks, aTaskBody({ url }), keyOf(tenant))
  await api.send('POST', '/api/v1/scheduler/subscriptions', { topic: '*', url }, keyOf(tenant))
  const { body } = await operate('GET', '/targets?host=victim.EXAMPLE:8443')
  expect(body.data).toMatchObject([{ workspace_id: tenant.workspaceId, tasks: 1, cron_jobs: 0, subscriptions: 1 }])
  expect((await operate('GET', '/targets?host=other.example')).body.data).toEqual([])
})

it('cannot change or remove an entry of the operators’ log', async () => {
  await operate('POST', `/organizations/${(await api.signUp()).organizationId}/suspend`)
  for (const text of ['DELETE FROM operator_log', `UPDATE operator_log SET operator = 'x'`, 'TRUNCATE operator_log'])
    await expect(api.db.query(text)).rejects.toThrow(/append-only/)
})

it('shows the board of the queues to operators with a session, and to no other user', async () => {
  await operate('GET', '/log')
  expect((await api.send('GET', '/admin/queues', undefined, session)).status).toBe(200)
  const { token } = await api.signUp()
  expect((await api.send('GET', '/admin/queues', undefined, { Authorization: `Bearer ${token}` })).status).toBe(401)
  expect((await api.send('GET', '/admin/hosts')).status).toBe(401)
})
