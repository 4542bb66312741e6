import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const root = '/api/v1/scheduler'

async function aCaller() {
  const caller = await api.signUp()
  const send = (method: string, path: string, body?: Json) =>
    api.send(method, root + path, body, { 'X-Api-Key': caller.apiKey })
  return { ...caller, send }
}

describe('queues', () => {
  it('are created, replaced, changed, read and deleted', async () => {
    const { send } = await aCaller()
    const made = await send('PUT', '/queues/partner', { max_concurrent: 3, rate_limit: { count: 5, period_ms: 1_000 } })
    expect([made.status, made.body]).toMatchObject([
      200,
      {
        ...{ name: 'partner', max_concurrent: 3, rate_limit: { count: 5, period_ms: 1_000 }, ordered: false },
        ...{ paused_at: null, waiting: 0, in_flight: 0, oldest_due_ms: null },
      },
    ])
    expect((await send('PATCH', '/queues/partner', { rate_limit: null, ordered: true })).body).toMatchObject({
      max_concurrent: 3,
      rate_limit: null,
      ordered: true,
    })
    expect((await send('PUT', '/queues/partner')).body).toMatchObject({ max_concurrent: null, ordered: false })
    expect((await send('DELETE', '/queues/partner')).status).toBe(204)
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      expect((await send(method, '/queues/partner', method === 'PATCH' ? {} : undefined)).body.code).toBe('not_found')
    }
    expect((await send('POST', '/queues/partner/pause')).body.code).toBe('not_found')
  })

  it('are paused and resumed, and both are in the audit log', async () => {
    const { send, organizationId, token } = await aCaller()
    await send('PUT', '/queues/a%2Fb:c')
    const paused = await send('POST', '/queues/a%2Fb:c/pause')
    expect(paused.body).toMatchObject({ name: 'a/b:c', paused_at: expect.any(String) })
    expect((await send('POST', '/queues/a%2Fb:c/pause')).body.paused_at).toBe(paused.body.paused_at)
    expect((await send('POST', '/queues/a%2Fb:c/resume')).body.paused_at).toBeNull()
    const log = await api.send('GET', `/api/v1/organizations/${organizationId}/audit-log`, undefined, {
      Authorization: `Bearer ${token}`,
    })
    const actions = log.body.data.map(({ action }: { action: string }) => action)
    expect(actions).toEqual(expect.arrayContaining(['queue.changed', 'queue.paused', 'queue.resumed']))
  })

  it('exist from the first use of their name, with the limits of the last writer', async () => {
    const { send } = await aCaller()
    const task = await send('POST', '/tasks', { ...aTaskBody(), queue: 'customer-1' })
    expect([task.status, task.body.queue]).toEqual([201, 'customer-1'])
    expect((await send('GET', '/queues/customer-1')).body).toMatchObject({ max_concurrent: null, waiting: 0 })
    await send('POST', '/tasks', { ...aTaskBody(), queue: { name: 'customer-1', max_concurrent: 2 } })
    const rows = [
      { ...aTaskBody(), queue: { name: 'customer-1', ordered: true } },
      { ...aTaskBody(), queue: 'customer-2' },
      { ...aTaskBody(), queue: '.' },
    ]
    const batch = await send('POST', '/tasks/batch', { tasks: rows })
    expect(batch.body.data[2].error.errors[0]).toMatchObject({ path: 'queue' })
    expect((await send('GET', '/queues/customer-1')).body).toMatchObject({ max_concurrent: 2, ordered: true })
    expect((await send('DELETE', '/queues/customer-1')).body.code).toBe('queue_in_use')
    const listed = await send('GET', '/tasks?queue=customer-1')
    expect((await send('GET', '/tasks?queue=customer-1&host=other.example.com')).body.data).toEqual([])
    expect(listed.body.data).toHaveLength(3)
    expect((await send('GET', '/tasks?queue=customer-1&queue=customer-2')).body.data).toHaveLength(4)
  })

  it('are listed by name, page by page', async () => {
    const { send } = await aCaller()
    for (const name of ['b', 'a', 'c', 'other']) await send('PUT', `/queues/${name}`)
    const first = await send('GET', '/queues?limit=2')
    const second = await send('GET', `/queues?limit=2&cursor=${first.body.next_cursor}`)
    const names = [...first.body.data, ...second.body.data].map(({ name }: { name: string }) => name)
    expect(names).toEqual(['a', 'b', 'c', 'other'])
    expect(second.body.next_cursor).toBeNull()
    expect((await send('GET', '/queues?name=oth')).body.data).toHaveLength(1)
    expect((await send('GET', '/queues?cursor=x')).body.code).toBe('validation_failed')
  })

  it('belong to one workspace', async () => {
    const [one, other] = [await aCaller(), await aCaller()]
    await one.send('PUT', '/queues/mine')
    expect((await other.send('GET', '/queues/mine')).status).toBe(404)
    expect((await other.send('GET', '/queues')).body.data).toEqual([])
    expect((await other.send('POST', '/queues/mine/pause')).status).toBe(404)
  })

  it.each([
    ['a name with a space', { queue: 'a b' }],
    ['an empty name', { queue: '' }],
    ['a long name', { queue: 'a'.repeat(129) }],
    ['max_concurrent 0', { queue: { name: 'a', max_concurrent: 0 } }],
    ['max_concurrent 1001', { queue: { name: 'a', max_concurrent: 1_001 } }],
    ['a rate without a period', { queue: { name: 'a', rate_limit: { count: 1 } } }],
    ['an unknown limit', { queue: { name: 'a', max: 1 } }],
    ['no name', { queue: { max_concurrent: 1 } }],
  ])('refuse %s', async (_, fields) => {
    const { send } = await aCaller()
    const { status, body } = await send('POST', '/tasks', { ...aTaskBody(), ...fields })
    expect([status, body.code]).toEqual([400, 'validation_failed'])
    expect((await send('GET', '/queues')).body.data).toEqual([])
  })

  it('refuse a name in the path that no queue can have', async () => {
    const { send } = await aCaller()
    expect((await send('PUT', '/queues/a%20b')).status).toBe(404)
    expect((await send('GET', '/queues/a%00b')).status).toBe(404)
  })

  it('are changed and left by a pending task', async () => {
    const { send } = await aCaller()
    const { body: task } = await send('POST', '/tasks', { ...aTaskBody(), queue: 'one' })
    expect((await send('PATCH', `/tasks/${task.id}`, { queue: 'two' })).body.queue).toBe('two')
    expect((await send('DELETE', '/queues/one')).status).toBe(204)
    expect((await send('PATCH', `/tasks/${task.id}`, { queue: null })).body.queue).toBeNull()
    expect((await send('DELETE', '/queues/two')).status).toBe(204)
  })

  it.each([
    ['moves out of it', { queue: null }],
    ['gets a later time', { execute_at: new Date(Date.now() + 3_600_000).toISOString() }],
  ])('wake the task behind when the next one %s', async (_, change) => {
    const { send } = await aCaller()
    const queue = { name: 'partner', max_concurrent: 1 }
    const ids: string[] = []
    for (let i = 0; i < 2; i++) ids.push((await send('POST', '/tasks', { ...aTaskBody(), queue })).body.id)
    const [next, behind] = ids.map(id => fromId('task', id))
    const due = `UPDATE tasks SET execute_at = now() - interval '1 s', due_at = now() - interval '1 s', waits_for = $2 WHERE id = $1`
    await api.db.query(due, [next, 0])
    await api.db.query(due, [behind, 1])
    expect((await send('PATCH', `/tasks/${ids[0]}`, change)).status).toBe(200)
    const { rows } = await api.db.query('SELECT waits_for FROM tasks WHERE id = $1', [behind])
    expect(rows).toEqual([{ waits_for: 0 }])
  })

  it.each([
    ['paused', 'POST', '/pause', undefined],
    ['changed', 'PATCH', '', { cron: '0 0 1 1 *' }],
    ['deleted', 'DELETE', '', undefined],
  ])('wake the task behind the one of a cron job that is %s', async (_, method, more, change) => {
    const { send } = await aCaller()
    const job = { name: 'J', url: 'https://example.com', method: 'POST', cron: '* * * * *' }
    const { body: cronJob } = await send('POST', '/cronjobs', { ...job, queue: { name: 'partner', max_concurrent: 1 } })
    const { body: task } = await send('POST', '/tasks', { ...aTaskBody(), queue: 'partner' })
    const due = `UPDATE tasks SET execute_at = now() - interval '1 s', due_at = now() - interval '1 s', waits_for = $2 WHERE id = `
    const next = '(SELECT id FROM tasks WHERE cron_job_id = $1 ORDER BY execute_at LIMIT 1)'
    await api.db.query(due + next, [fromId('cron', cronJob.id), 0])
    const behind = fromId('task', task.id)
    await api.db.query(`${due}$1`, [behind, 1])
    expect((await send(method, `/cronjobs/${cronJob.id}${more}`, change)).status).toBeLessThan(300)
    const { rows } = await api.db.query('SELECT waits_for FROM tasks WHERE id = $1', [behind])
    expect(rows).toEqual([{ waits_for: 0 }])
  })

  it('are kept by a replay, and named by cron jobs and subscriptions', async () => {
    const { send } = await aCaller()
    const { body: task } = await send('POST', '/tasks', { ...aTaskBody(), queue: 'one' })
    await send('DELETE', `/tasks/${task.id}`)
    expect((await send('POST', `/tasks/${task.id}/replay`)).body.queue).toBe('one')
    const job = { name: 'J', url: 'https://example.com', method: 'POST', cron: '0 0 1 1 *', queue: 'jobs' }
    const { body: cronJob } = await send('POST', '/cronjobs', job)
    expect(cronJob.queue).toBe('jobs')
    expect((await send('PATCH', `/cronjobs/${cronJob.id}`, { queue: 'other' })).body.queue).toBe('other')
    const made = await send('POST', '/subscriptions', { topic: '*', url: 'https://example.com', queue: 'subs' })
    expect(made.body.queue).toBe('subs')
    expect((await send('PATCH', `/subscriptions/${made.body.id}`, { queue: null })).body.queue).toBeNull()
    expect((await send('DELETE', '/queues/other')).body.code).toBe('queue_in_use')
    expect((await send('DELETE', '/queues/subs')).status).toBe(204)
  })
})
