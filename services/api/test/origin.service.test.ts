import { fromId } from '@belfry/domain/id'
import { depthHeaders } from '@belfry/vault'
import { expect, it } from 'vitest'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const scheduler = '/api/v1/scheduler'
const keyOf = ({ apiKey }: Caller) => ({ 'X-Api-Key': apiKey })
const sessionOf = ({ token, workspaceId }: Caller) => ({
  Authorization: `Bearer ${token}`,
  'X-Workspace-Id': workspaceId,
})
const job = { name: 'Report', url: 'https://example.com/', method: 'POST', cron: '0 9 1 1 *' }
const event = { topic: 'a.b', payload: {}, target_url: 'https://example.com/' }

it('records the key or the user that created and changed a task or a cron job', async () => {
  const caller = await api.signUp()
  const me = (await api.send('GET', '/api/v1/auth/me', undefined, sessionOf(caller))).body.user.id
  const keys = await api.send('GET', `/api/v1/workspaces/${caller.workspaceId}/api-keys`, undefined, sessionOf(caller))
  const key = keys.body.data[0].id
  for (const [path, body] of [
    ['/tasks', aTaskBody()],
    ['/cronjobs', job],
  ] as const) {
    const created = (await api.send('POST', scheduler + path, body, keyOf(caller))).body
    expect([created.created_by, created.updated_by]).toEqual([key, null])
    const changed = await api.send('PATCH', `${scheduler}${path}/${created.id}`, { name: 'New' }, sessionOf(caller))
    expect([changed.body.created_by, changed.body.updated_by]).toEqual([key, me])
    const read = await api.send('GET', `${scheduler}${path}/${created.id}`, undefined, keyOf(caller))
    expect([read.body.created_by, read.body.updated_by]).toEqual([key, me])
  }
  const { body } = await api.send('POST', '/api/events', event, keyOf(caller))
  expect(body.tasks[0].created_by).toBe(key)
  const batch = { tasks: [aTaskBody()] }
  const stored = await api.send('POST', `${scheduler}/tasks/batch`, batch, sessionOf(caller))
  expect(stored.body.data[0].task.created_by).toBe(me)
})

it('records a change of a task in the audit log, with the names of its fields and without their values', async () => {
  const caller = await api.signUp()
  const { id } = (await api.send('POST', `${scheduler}/tasks`, aTaskBody(), keyOf(caller))).body
  const change = { url: 'https://example.com/hidden', headers: { Authorization: 'hidden' } }
  await api.send('PATCH', `${scheduler}/tasks/${id}`, change, keyOf(caller))
  await api.send('PATCH', `${scheduler}/tasks/${id}`, {}, keyOf(caller))
  const path = `/api/v1/organizations/${caller.organizationId}/audit-log?object_id=${id}`
  const { data } = (await api.send('GET', path, undefined, sessionOf(caller))).body
  expect(data.map(({ action, details }: Json) => [action, details])).toEqual([
    ['task.changed', { fields: ['headers', 'url'] }],
  ])
  expect(data[0].actor.api_key_id).toMatch(/^key_/)
})

it('refuses to create anything for a call that is the sixth in a row, and counts no forged depth', async () => {
  const caller = await api.signUp()
  const [first = '', ...rest] = depthHeaders(api.ctx.config.masterKeys)
  const cronJob = (await api.send('POST', `${scheduler}/cronjobs`, job, keyOf(caller))).body.id
  const finished = (await api.send('POST', '/api/events', event, keyOf(caller))).body.tasks[0].id
  await api.db.query(`UPDATE tasks SET state = 'success' WHERE id = $1`, [fromId('task', finished)])
  const creations: Array<[string, unknown]> = [
    [`${scheduler}/tasks`, aTaskBody()],
    [`${scheduler}/tasks/batch`, { tasks: [aTaskBody()] }],
    [`${scheduler}/tasks/${finished}/replay`, undefined],
    [`${scheduler}/dead-letters/replay`, { ids: [finished] }],
    [`${scheduler}/cronjobs`, job],
    [`${scheduler}/cronjobs/${cronJob}/trigger`, undefined],
    ['/api/events', event],
  ]
  for (const [path, body] of creations) {
    const send = (depth: string) => api.send('POST', path, body, { ...keyOf(caller), 'X-Belfry-Depth': depth })
    const before = await api.count('tasks')
    expect([path, (await send(rest.at(-1) ?? '')).body.code]).toEqual([path, 'loop_detected'])
    expect(await api.count('tasks')).toBe(before)
    expect((await send(`6${first.slice(1)}`)).status).toBeLessThan(300)
    expect((await send(first)).status).toBeLessThan(300)
  }
})
