import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { anOrganization, type Person, type TestOrganization } from './organization.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

// One user changes everything at once, and one test changes a table.
const api = useApi({ RATE_LIMITS: 'off' }, { isAlone: true })

async function read({ id }: TestOrganization, { session }: Person, query = ''): Promise<Json> {
  return (await api.send('GET', `/api/v1/organizations/${id}/audit-log${query}`, undefined, session)).body
}

describe('works', () => {
  it('records who did what to which object, from which address', async () => {
    const organization = await anOrganization(api)
    const { id, owner, workspaceId } = organization
    const member = await organization.add('member')
    const [org, ws] = [`/api/v1/organizations/${id}`, `/api/v1/workspaces/${workspaceId}`]
    const as = { ...owner.session, 'X-Forwarded-For': '203.0.113.9' }
    await api.send('PATCH', org, { name: 'New', policy: { members_can_invite: true } }, as)
    for (const tier of ['scaleup', 'scaleup']) await api.send('PUT', `${org}/subscription`, { tier }, as)
    await api.send('PATCH', `${org}/members/${member.id}`, { role: 'admin' }, as)
    const created = (await api.send('POST', `${org}/workspaces`, { name: 'Second' }, as)).body.id
    await api.send('PATCH', ws, { name: 'Renamed' }, as)
    await api.send('PUT', `${ws}/members/${member.id}`, { role: 'viewer' }, as)
    await api.send('PUT', `${ws}/members/${member.id}`, { role: 'editor' }, as)
    await api.send('DELETE', `${ws}/members/${member.id}`, undefined, as)
    const key = (await api.send('POST', `${ws}/api-keys`, { name: 'CI' }, as)).body
    await api.send('DELETE', `${ws}/api-keys/${key.id}`, undefined, as)
    await api.send('DELETE', ws, undefined, as)
    await api.send('DELETE', `${org}/members/${member.id}`, undefined, as)
    const { data, next_cursor } = await read(organization, owner)
    expect(next_cursor).toBeNull()
    const deeds = data.reverse().map((entry: Json) => [entry.action, entry.object_id, entry.workspace_id])
    expect(deeds).toEqual([
      ['organization.changed', id, null],
      ['organization.policy_changed', id, null],
      ['organization.tier_changed', id, null],
      ['member.role_changed', member.id, null],
      ['workspace.created', created, created],
      ['workspace.changed', workspaceId, workspaceId],
      ['workspace_member.added', member.id, workspaceId],
      ['workspace_member.role_changed', member.id, workspaceId],
      ['workspace_member.removed', member.id, workspaceId],
      ['api_key.created', key.id, workspaceId],
      ['api_key.revoked', key.id, workspaceId],
      ['workspace.deleted', workspaceId, workspaceId],
      ['member.removed', member.id, null],
    ])
    const actor = { user_id: owner.id, email: owner.email, api_key_id: null }
    for (const entry of data) expect(entry).toMatchObject({ actor, address: '203.0.113.9' })
    expect(data[0].details).toEqual({ name: { from: 'Acme', to: 'New' } })
    expect(data[1].details).toEqual({ members_can_invite: { from: false, to: true } })
    expect(data[2].details).toMatchObject({ to: 'scaleup' })
    expect(data[3].details).toEqual({ from: 'member', to: 'admin' })
    expect(JSON.stringify(data)).not.toContain(key.key)
  })

  it('records cancelled tasks and changes of cron jobs and subscriptions, by keys and by users', async () => {
    const organization = await anOrganization(api)
    const { owner, workspaceId } = organization
    const key = await organization.apiKey()
    const session = { ...owner.session, 'X-Workspace-Id': workspaceId }
    const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = key) =>
      api.send(method, `/api/v1/scheduler${path}`, body, { ...headers, 'X-Forwarded-For': '203.0.113.9' })
    const task = (await send('POST', '/tasks', aTaskBody())).body.id
    await send('DELETE', `/tasks/${task}`)
    expect((await send('DELETE', `/tasks/${task}`)).status).toBe(409)
    const job = { name: 'Report', url: 'https://example.com/', method: 'POST', cron: '0 9 1 1 *' }
    const { id } = (await send('POST', '/cronjobs', job, session)).body
    await send('PATCH', `/cronjobs/${id}`, { cron: '0 8 1 1 *', headers: { Authorization: 'hidden' } })
    for (const move of ['pause', 'pause', 'resume', 'resume']) await send('POST', `/cronjobs/${id}/${move}`)
    await send('DELETE', `/cronjobs/${id}`, undefined, session)
    expect((await send('DELETE', `/cronjobs/${id}`, undefined, session)).status).toBe(404)
    const sub = (await send('POST', '/subscriptions', { topic: 'orders.*', url: 'https://example.com/hidden' })).body.id
    await send('PATCH', `/subscriptions/${sub}`, { active: false })
    await send('DELETE', `/subscriptions/${sub}`)
    const { data } = await read(organization, owner)
    const entries = data.reverse()
    expect(entries.map((entry: Json) => [entry.action, entry.object_id, entry.details])).toEqual([
      ['task.cancelled', task, {}],
      ['cron_job.created', id, { name: 'Report', cron: '0 9 1 1 *', timezone: 'UTC' }],
      ['cron_job.changed', id, { name: 'Report', fields: ['cron', 'headers'] }],
      ['cron_job.paused', id, { name: 'Report' }],
      ['cron_job.resumed', id, { name: 'Report' }],
      ['cron_job.deleted', id, { name: 'Report' }],
      ['subscription.created', sub, { topic: 'orders.*', active: true }],
      ['subscription.changed', sub, { topic: 'orders.*', fields: ['active'] }],
      ['subscription.deleted', sub, { topic: 'orders.*' }],
    ])
    for (const { workspace_id, address } of entries)
      expect([workspace_id, address]).toEqual([workspaceId, '203.0.113.9'])
    const byUser = entries.filter(({ actor }: Json) => actor.user_id === owner.id)
    expect(byUser.map(({ action }: Json) => action)).toEqual(['cron_job.created', 'cron_job.deleted'])
    expect(entries[0].actor).toEqual({ user_id: null, email: null, api_key_id: expect.stringMatching(/^key_/) })
    expect(JSON.stringify(data)).not.toContain('hidden')
  })

  it('has the names of its objects, also of those in details, but none of other organizations', async () => {
    const organization = await anOrganization(api)
    const stranger = await anOrganization(api)
    const { id: org, owner, workspaceId } = organization
    const member = await organization.add('member')
    const [ws, workspace] = [`/api/v1/workspaces/${workspaceId}`, { 'X-Workspace-Id': workspaceId, ...owner.session }]
    const post = async (path: string, body: unknown) => (await api.send('POST', path, body, workspace)).body
    const key = await post(`${ws}/api-keys`, { name: 'CI' })
    const job = { name: 'Report', url: 'https://example.com/', method: 'POST', cron: '0 9 1 1 *' }
    const cron = await post('/api/v1/scheduler/cronjobs', job)
    const sub = await post('/api/v1/scheduler/subscriptions', { topic: 'orders.*', url: 'https://example.com/' })
    const pager = { name: 'Pager', channel: 'slack', url: 'https://hooks.slack.com/x', events: ['task.dead'] }
    const alert = await post(`${ws}/integrations`, pager)
    const asKey = { 'X-Api-Key': key.key }
    const task = (await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody(), asKey)).body
    await api.send('DELETE', `/api/v1/scheduler/tasks/${task.id}`, undefined, asKey)
    await api.send('PATCH', `/api/v1/organizations/${org}/members/${member.id}`, { role: 'admin' }, owner.session)
    const details = JSON.stringify({ workspaces: [workspaceId, stranger.workspaceId], by: stranger.owner.id })
    await api.db.query(
      `INSERT INTO audit_log (id, organization_id, action, address, object_id, details)
       VALUES (uuid_v7(now()), $1, 'queue.changed', '192.0.2.1', $2, $3)`,
      [fromId('org', org), stranger.id, details],
    )
    const { data } = await read(organization, owner)
    const entry = (action: string) => data.find((one: Json) => one.action === action)
    expect(entry('api_key.created').names).toEqual({
      [key.id]: 'CI',
      [workspaceId]: 'Main',
      [owner.id]: expect.any(String),
    })
    expect(entry('cron_job.created').names[cron.id]).toBe('Report')
    expect(entry('subscription.created').names[sub.id]).toBe('orders.*')
    expect(entry('integration.created').names[alert.id]).toBe('Pager')
    expect(entry('task.cancelled').names).toMatchObject({ [task.id]: task.name, [key.id]: 'CI' })
    expect(entry('member.role_changed').names[member.id]).toEqual(expect.any(String))
    expect(entry('queue.changed').names).toEqual({ [workspaceId]: 'Main' })
    await api.send('DELETE', `/api/v1/scheduler/cronjobs/${cron.id}`, undefined, workspace)
    expect((await read(organization, owner)).data[0].names[cron.id]).toBeUndefined()
  })

  it('is read page by page and by action, actor, workspace, object and time', async () => {
    const organization = await anOrganization(api)
    const admin = await organization.add('admin')
    const org = `/api/v1/organizations/${organization.id}`
    for (const name of ['One', 'Two', 'Three']) await api.send('PATCH', org, { name }, organization.owner.session)
    await api.send('PATCH', `/api/v1/workspaces/${organization.workspaceId}`, { name: 'W' }, admin.session)
    const count = async (query: string) => (await read(organization, admin, query)).data.length
    expect(await count('')).toBe(4)
    expect(await count('?action=organization.changed')).toBe(3)
    expect(await count('?action=organization.changed&action=workspace.changed')).toBe(4)
    expect(await count(`?user_id=${admin.id}`)).toBe(1)
    expect(await count(`?workspace_id=${organization.workspaceId}`)).toBe(1)
    expect(await count(`?object_id=${organization.id}`)).toBe(3)
    const { data } = await read(organization, admin)
    expect(await count(`?from=${data[1].created_at}`)).toBe(2)
    expect(await count(`?to=${data[1].created_at}`)).toBe(2)
    const first = await read(organization, admin, '?limit=3')
    const rest = await read(organization, admin, `?limit=3&cursor=${first.next_cursor}`)
    expect([...first.data, ...rest.data]).toEqual(data)
    const wrong = await read(organization, admin, '?action=organization.painted')
    expect(wrong.errors[0].path).toBe('action')
  })
})

it('exports the filtered log as CSV and JSON Lines, in more than one page, to owners and admins', async () => {
  const organization = await anOrganization(api)
  const org = `/api/v1/organizations/${organization.id}`
  await api.send('PATCH', org, { name: '=1+1' }, organization.owner.session)
  await api.db.query(
    `INSERT INTO audit_log (id, organization_id, action, address, object_id)
     SELECT uuid_v7(now() - n * interval '1 minute'), $1, 'member.joined', '192.0.2.1', n FROM generate_series(1, 2500) n`,
    [fromId('org', organization.id)],
  )
  const path = `${org}/audit-log/export`
  const { text } = await api.send('GET', `${path}?format=jsonl`, undefined, organization.owner.session)
  const lines = text.trim().split('\n')
  expect(lines).toHaveLength(2501)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ action: 'organization.changed', object_id: organization.id })
  const csv = await api.send('GET', `${path}?action=organization.changed`, undefined, organization.owner.session)
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"')
  expect(csv.text.trim().split('\r\n')).toHaveLength(2)
  expect(csv.text).toContain('{""name"":{""from"":""Acme"",""to"":""=1+1""}}')
  const member = await organization.add('member')
  expect((await api.send('GET', path, undefined, member.session)).status).toBe(403)
})

describe('refuses', () => {
  it('an action that cannot be recorded, and a record of an action that was not done', async () => {
    const organization = await anOrganization(api)
    const { owner } = organization
    await api.db.query(`ALTER TABLE audit_log ADD CONSTRAINT broken CHECK (action <> 'workspace.changed') NOT VALID`)
    const path = `/api/v1/workspaces/${organization.workspaceId}`
    expect((await api.send('PATCH', path, { name: 'Unrecorded' }, owner.session)).status).toBe(500)
    await api.db.query('ALTER TABLE audit_log DROP CONSTRAINT broken')
    expect((await api.send('GET', path, undefined, owner.session)).body.name).toBe('Main')
    const self = `/api/v1/organizations/${organization.id}/members/${owner.id}`
    expect((await api.send('DELETE', self, undefined, owner.session)).status).toBe(409)
    expect((await read(organization, owner)).data).toEqual([])
  })

  it('the log of another organization, and a cursor of it', async () => {
    const [organization, another] = [await anOrganization(api), await anOrganization(api)]
    const change = { name: 'x' }
    await api.send('PATCH', `/api/v1/organizations/${another.id}`, change, another.owner.session)
    expect((await read(another, organization.owner)).status).toBe(404)
    expect((await read(organization, organization.owner)).data).toEqual([])
  })
})
