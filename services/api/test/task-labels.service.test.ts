import { fromId, newUuid } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { aTaskBody, type Caller, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'

let caller: Caller
beforeEach(async () => {
  caller = await api.signUp()
})

const call = (method: string, path: string, body?: unknown) =>
  api.send(method, path, body, { 'X-Api-Key': caller.apiKey })
const create = async (changes: Record<string, unknown>) => (await call('POST', tasks, aTaskBody(changes))).body
const list = async (query: string) => (await call('GET', `${tasks}?${query}`)).body.data.map(({ name }: Json) => name)
const makeRetrying = (id: string) =>
  api.db.query(`UPDATE tasks SET state = 'retrying', attempts = 1, due_at = now() + interval '1 hour' WHERE id = $1`, [
    fromId('task', id),
  ])

describe('labels', () => {
  it('filter tasks, and a task with several of them appears once', async () => {
    await create({ name: 'one', labels: ['l:1'] })
    await create({ name: 'two', labels: ['l:2', 'l:1', 'l:2'] })
    await create({ name: 'none' })
    expect(await list('label=l:1')).toEqual(['two', 'one'])
    expect(await list('label=l:2')).toEqual(['two'])
    expect(await list('label=l:2&label=l:1')).toEqual(['two', 'one'])
    expect(await list('label=l:1&state=dead')).toEqual([])
    expect(await list('label=l:1&name=on')).toEqual(['one'])
    expect((await create({ labels: ['l:2', 'l:1', 'l:2'] })).labels).toEqual(['l:2', 'l:1'])
  })

  it('change with the task', async () => {
    const task = await create({ name: 'changed', labels: ['m:1', 'm:2'] })
    const { body } = await call('PATCH', `${tasks}/${task.id}`, { labels: ['m:2', 'm:3'] })
    expect([body.labels, await list('label=m:1'), await list('label=m:2'), await list('label=m:3')]).toEqual([
      ['m:2', 'm:3'],
      [],
      ['changed'],
      ['changed'],
    ])
    expect((await call('PATCH', `${tasks}/${task.id}`, { labels: [] })).body.labels).toEqual([])
    expect(await list('label=m:2')).toEqual([])
  })

  it('are pages of a list like any other filter', async () => {
    for (let n = 0; n < 7; n++) await create({ name: `p${n}`, labels: ['page', ...(n % 2 ? ['odd'] : [])] })
    for (const query of ['label=page', 'label=odd&label=page']) {
      const names: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await call('GET', `${tasks}?${query}&limit=3${cursor && `&cursor=${cursor}`}`)
        names.push(...body.data.map(({ name }: Json) => name))
        if (body.next_cursor === null) break
        cursor = body.next_cursor
      }
      expect(names).toEqual(['p6', 'p5', 'p4', 'p3', 'p2', 'p1', 'p0'])
    }
  })

  it('filter runs and dead letters', async () => {
    const [task, other] = [await create({ labels: ['run'] }), await create({})]
    for (const { id } of [task, other]) {
      await makeRetrying(id)
      await api.db.query(
        `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
         VALUES ($1, $2, $3, 1, 'task', 'failed', now(), now(), now())`,
        [newUuid(), fromId('ws', caller.workspaceId), fromId('task', id)],
      )
      await call('POST', `${tasks}/${id}/stop`)
    }
    const runs = await call('GET', '/api/v1/scheduler/runs?label=run')
    expect(runs.body.data.map((run: Json) => run.task_id)).toEqual([task.id])
    const dead = await call('GET', '/api/v1/scheduler/dead-letters?label=run')
    expect(dead.body.data.map(({ id }: Json) => id)).toEqual([task.id])
    const replayed = await call('POST', '/api/v1/scheduler/dead-letters/replay', { filter: { label: 'run' } })
    expect(replayed.body.replayed).toBe(1)
  })

  it.each([
    [Array.from({ length: 11 }, (_, n) => `l${n}`), 'out_of_range'],
    [['with,comma'], 'invalid_label'],
    [['a'.repeat(101)], 'invalid_label'],
    [['order:{{ payload }}'], 'invalid_label'],
    [['{{ payload.id }}:more'], 'invalid_label'],
    [[`${'a'.repeat(90)}{{ payload.id }}`], 'invalid_label'],
    ['text', 'invalid_type'],
  ])('refuses %j', async (labels, code) => {
    const { status, body } = await call('POST', tasks, aTaskBody({ labels }))
    expect([status, body.errors[0].code]).toEqual([400, code])
  })

  it('allows ten of 100 characters', async () => {
    const labels = Array.from({ length: 10 }, (_, n) => `${n}`.padEnd(100, 'x'))
    expect((await create({ labels })).labels).toEqual(labels)
  })

  const payload = { order_id: 7, customer: { id: 'ada' } }
  const labels = ['order:{{ payload.order_id }}', 'customer:{{payload.customer.id}}', 'no:{{ payload.other }}', 'plain']
  const filled = ['order:7', 'customer:ada', 'plain']
  const found = async (label: string) => (await call('GET', `${tasks}?label=${label}`)).body.data

  it('are filled in from the payload of a task', async () => {
    const task = await create({ payload, labels })
    expect(task.labels).toEqual(filled)
    expect(await found('customer:ada')).toMatchObject([{ id: task.id }])
    const batch = await call('POST', `${tasks}/batch`, { tasks: [aTaskBody({ labels, payload: { order_id: 8 } })] })
    expect(batch.body.data[0].task.labels).toEqual(['order:8', 'plain'])
    const raw = await create({
      labels,
      payload: undefined,
      payload_base64: Buffer.from('{"order_id":9}').toString('base64'),
    })
    expect(raw.labels).toEqual(['plain'])
    expect((await create({ labels: labels.slice(2, 3) })).labels).toEqual([])
    expect((await call('PATCH', `${tasks}/${task.id}`, { labels })).body.errors).toMatchObject([
      { path: 'labels.0' },
      {},
      {},
    ])
  })

  it('are filled in from the payload of an event, for every subscription', async () => {
    const subscription = { topic: 'labels.filled', url: 'https://example.com', labels: labels.slice(0, 1) }
    const { body } = await call('POST', '/api/v1/scheduler/subscriptions', subscription)
    expect(body.labels).toEqual(labels.slice(0, 1))
    const event = { topic: 'labels.filled', payload, labels: labels.slice(1) }
    expect((await call('POST', '/api/events', event)).body.tasks).toMatchObject([{ labels: filled }])
    const direct = { ...event, target_url: 'https://example.com' }
    expect((await call('POST', '/api/events', direct)).body.tasks).toMatchObject([{ labels: filled.slice(1) }])
  })

  it('are filled in from the payload of a cron job, also after a change of either', async () => {
    const jobs = '/api/v1/scheduler/cronjobs'
    const rule = { name: 'Minutely', url: 'https://example.com', method: 'POST', cron: '* * * * *' }
    const { body: job } = await call('POST', jobs, { ...rule, payload, labels })
    expect(job.labels).toEqual(labels)
    const labelsOfTasks = async () => {
      const { body } = await call('GET', `${tasks}?cronjob_id=${job.id}&state=pending`)
      return [...new Set(body.data.map((task: Json) => task.labels.join()))]
    }
    expect(await labelsOfTasks()).toEqual([filled.join()])
    expect((await call('GET', `${jobs}?label=order:7`)).body.data).toMatchObject([{ id: job.id, labels }])
    expect((await call('PATCH', `${jobs}/${job.id}`, { payload: { order_id: 'b' } })).body.labels).toEqual(labels)
    expect(await labelsOfTasks()).toEqual(['order:b,plain'])
    const other = ['{{ payload.order_id }}']
    expect((await call('PATCH', `${jobs}/${job.id}`, { labels: other })).body.labels).toEqual(other)
    expect(await labelsOfTasks()).toEqual(['b'])
    expect((await call('POST', `${jobs}/${job.id}/trigger`)).body.labels).toEqual(['b'])
    expect((await call('PATCH', `${jobs}/${job.id}`, { labels: ['plain'] })).body.labels).toEqual(['plain'])
    expect((await call('PATCH', `${jobs}/${job.id}`, { payload })).body.labels).toEqual(['plain'])
    await call('DELETE', `${jobs}/${job.id}`)
  })
})
