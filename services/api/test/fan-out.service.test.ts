import { fromId } from '@belfry/domain/id'
import { depthHeaders } from '@belfry/vault'
import { beforeEach, expect, it } from 'vitest'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const tiers = { free: { fan_out_per_minute: 5, requests_per_second: 1_000 } }
const api = useApi({ DEFAULT_TIER: 'free', TIERS: JSON.stringify(tiers), QSTASH_API: 'on' })
const scheduler = '/api/v1/scheduler'
const url = 'https://example.com/'
let caller: Caller
beforeEach(async () => {
  caller = await api.signUp()
})

const send = (path: string, body?: unknown, headers: Record<string, string> = {}) =>
  api.send('POST', path, body, { 'X-Api-Key': caller.apiKey, ...headers })
/** Publishes an event to so many subscriptions. */
const publish = async (headers: Record<string, string> = {}) =>
  (await send('/api/events', { topic: 't', payload: {} }, headers)).status
const subscribe = async (count: number) => {
  for (let i = 0; i < count; i++) await send(`${scheduler}/subscriptions`, { topic: 't', url })
}
const called = () => ({ 'X-Belfry-Depth': depthHeaders(api.ctx.config.masterKeys)[0] ?? '' })
const tasks = async () => {
  const text = 'SELECT count(*)::int AS n FROM tasks WHERE workspace_id = $1'
  return (await api.db.query(text, [fromId('ws', caller.workspaceId)])).rows[0]?.n
}

it('an event creates tasks for further subscriptions up to the limit of a minute, and then none', async () => {
  await subscribe(3)
  expect([await publish(), await publish(), await publish()]).toEqual([202, 202, 429])
  expect(await tasks()).toBe(6)
  const refused = await send('/api/events', { topic: 't', payload: {} })
  expect(refused.body).toMatchObject({ code: 'rate_limited', detail: expect.stringContaining('5 tasks a minute') })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await send('/api/events', { topic: 't', payload: {}, target_url: url })).status).toBe(202)
  expect((await send(`${scheduler}/tasks/batch`, { tasks: Array(20).fill(aTaskBody()) })).body.data).toHaveLength(20)
})

it('one event may have more subscriptions than the limit of a minute, once in that time', async () => {
  await subscribe(9)
  expect([await publish(), await publish()]).toEqual([202, 429])
})

it('the limit counts for all workspaces of the organization, and for no other organization', async () => {
  await subscribe(5)
  const first = caller
  expect([await publish(), await publish()]).toEqual([202, 429])
  const session = { Authorization: `Bearer ${first.token}` }
  const workspaces = `/api/v1/organizations/${first.organizationId}/workspaces`
  const { body } = await api.send('POST', workspaces, { name: 'Second' }, session)
  const key = await api.send('POST', `/api/v1/workspaces/${body.id}/api-keys`, { name: 'K' }, session)
  caller = { ...first, workspaceId: body.id, apiKey: key.body.key }
  await subscribe(5)
  expect(await publish()).toBe(429)
  caller = await api.signUp()
  await subscribe(5)
  expect(await publish()).toBe(202)
})

it('every task counts that a called target creates, in each way', async () => {
  const job = { name: 'J', url, method: 'POST', cron: '0 9 1 1 *' }
  const cronJob = (await send(`${scheduler}/cronjobs`, job)).body.id
  const finished = (await send('/api/events', { topic: 't', payload: {}, target_url: url })).body.tasks[0].id
  await api.db.query(`UPDATE tasks SET state = 'success' WHERE id = $1`, [fromId('task', finished)])
  const creations: Array<[string, unknown]> = [
    [`${scheduler}/tasks`, aTaskBody()],
    [`${scheduler}/tasks/batch`, { tasks: [aTaskBody()] }],
    [`${scheduler}/tasks/${finished}/replay`, undefined],
    [`${scheduler}/cronjobs/${cronJob}/trigger`, undefined],
    ['/api/events', { topic: 't', payload: {}, target_url: url }],
  ]
  for (const [path, body] of creations) expect((await send(path, body, called())).status).toBeLessThan(300)
  for (const [path, body] of creations) expect((await send(path, body, called())).status).toBe(429)
  const message = { Authorization: `Bearer ${caller.apiKey}`, 'Content-Type': 'text/plain', ...called() }
  expect((await api.send('POST', `/v2/publish/${url}`, 'x', message)).status).toBe(429)
  for (const [path, body] of creations) expect((await send(path, body)).status).toBeLessThan(300)
})

it('replays of dead letters count that a called target makes, and continue the row of calls', async () => {
  const batch = await send(`${scheduler}/tasks/batch`, { tasks: Array(7).fill(aTaskBody()) })
  const ids: string[] = batch.body.data.map(({ task }: { task: { id: string } }) => task.id)
  await api.db.query(`UPDATE tasks SET state = 'dead', finished_at = now() WHERE id = ANY ($1)`, [
    ids.map(id => fromId('task', id)),
  ])
  const replay = (body: unknown, headers = {}) => send(`${scheduler}/dead-letters/replay`, body, headers)
  expect((await replay({ ids: ids.slice(0, 5) }, called())).body).toMatchObject({ replayed: 5 })
  expect((await replay({ ids: [ids[5]] }, called())).status).toBe(429)
  const text = `
    SELECT DISTINCT depth FROM task_requests JOIN tasks t ON t.id = task_id
    WHERE t.workspace_id = $1 AND t.replay_of IS NOT NULL`
  expect((await api.db.query(text, [fromId('ws', caller.workspaceId)])).rows).toEqual([{ depth: 1 }])
  expect((await replay({ filter: {} }, called())).body.code).toBe('loop_detected')
  const operation = { action: 'replay', ids: [ids[5]] }
  expect((await send(`${scheduler}/bulk-operations`, operation, called())).body.code).toBe('loop_detected')
  expect((await replay({ ids: [ids[5]] })).body).toMatchObject({ replayed: 1 })
  const retry = { Authorization: `Bearer ${caller.apiKey}`, ...called() }
  const last = ids[6]?.replace('task_', 'dlq_')
  expect((await api.send('POST', `/v2/dlq/retry/${last}`, undefined, retry)).status).toBe(429)
})

it('an event with an Idempotency-Key that was refused is published later', async () => {
  await subscribe(6)
  expect(await publish()).toBe(202)
  const key = { 'Idempotency-Key': 'k' }
  expect(await publish(key)).toBe(429)
  await api.db.query('DELETE FROM throttles')
  expect(await publish(key)).toBe(202)
  expect(await tasks()).toBe(12)
})
