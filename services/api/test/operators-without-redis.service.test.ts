import { fromId, newUuid } from '@belfry/domain/id'
import { beforeEach, describe, expect, it } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const password = 'the operators of this test'
const operator = { Authorization: `Basic ${Buffer.from(`operator:${password}`).toString('base64')}` }
const queues = '/admin/queues/api/queues'

describe('without a Redis the board', () => {
  const api = useApi({ OPERATOR_PASSWORD: password }, { isAlone: true }) // reads the tasks of the installation
  beforeEach(() => api.db.query('TRUNCATE tasks CASCADE'))
  const read = (path: string) => api.send('GET', `${queues}${path}`, undefined, operator)

  const see = async (status: string, page = 1, size = 10): Promise<Json> => {
    const { body } = await read(`?activeQueue=waiting-work&status=${status}&page=${page}&jobsPerPage=${size}`)
    return body.queues.find(({ name }: Json) => name === 'waiting-work')
  }
  const idsOf = (queue: Json): string[] => queue.jobs.map(({ id }: Json) => id)

  async function aTask(minutesAhead: number, set?: string): Promise<string> {
    const executeAt = new Date(Date.now() + minutesAhead * 60_000).toISOString()
    const body = aTaskBody({ execute_at: executeAt, url: 'https://example.com/hook?token=hidden' })
    const { id } = (await api.call('POST', '/api/v1/scheduler/tasks', body)).body
    if (set) await api.db.query(`UPDATE tasks SET ${set} WHERE id = $1`, [fromId('task', id)])
    return id
  }

  it('has a label for it', async () => {
    const { body } = await read('')
    expect(body.queues.map(({ name, readOnlyMode }: Json) => [name, readOnlyMode])).toEqual([
      ['waiting-work', true],
      ['dead-letter', false],
    ])
    const page = await api.send('GET', '/admin/queues', undefined, operator)
    expect(page.text).toContain('Without a Redis, this is read from PostgreSQL.')
    expect((await api.send('GET', '/admin/queues/api/redis/stats', undefined, operator)).status).toBe(403)
  })

  it('shows the waiting tasks of PostgreSQL, the next due first', async () => {
    const inAnHour = await aTask(60)
    const inAMinute = await aTask(1)
    const retrying = await aTask(5, `state = 'retrying', attempts = 1`)
    const due = await aTask(60, `due_at = now() - interval '1 ms'`)
    const quarantined = await aTask(60, `state = 'retrying', quarantined = true, due_at = now() - interval '1 day'`)
    const active = await aTask(
      60,
      `state = 'processing', attempts = 1, lease_until = now() + interval '1 minute', dispatcher_id = id, run_id = id`,
    )
    expect((await see('delayed')).counts).toMatchObject({ active: 1, waiting: 2, delayed: 3, failed: 0 })
    expect(idsOf(await see('delayed'))).toEqual([inAMinute, retrying, inAnHour])
    expect(idsOf(await see('waiting'))).toEqual([quarantined, due])
    expect(idsOf(await see('active'))).toEqual([active])
    expect(idsOf(await see('latest'))).toEqual([active, quarantined, due, inAMinute, retrying, inAnHour])
    expect(idsOf(await see('delayed', 2, 2))).toEqual([inAnHour])
    expect(idsOf(await see('delayed', 100_000, 100))).toEqual([])
  })

  it('shows the workspace, the due time and the origin of a task, and no more', async () => {
    const task = await aTask(2)
    const { job, status } = (await read(`/waiting-work/${task}`)).body
    expect(status).toBe('delayed')
    expect(job.data).toEqual({
      task,
      workspace: api.caller.workspaceId,
      target: 'https://example.com',
      due_at: new Date(job.timestamp + job.delay).toISOString(),
      state: 'pending',
      attempts: 0,
    })
    expect(JSON.stringify(job)).not.toContain('hidden')
    for (const part of ['flow', 'logs'])
      expect([part, (await read(`/waiting-work/${task}/${part}`)).status]).toEqual([part, 200])
  })

  it.each(['waiting-work/task_x', 'dead-letter/task_x'])('has no job %s', async path => {
    expect((await read(`/${path}`)).status).toBe(404)
  })

  it('shows a task in the queue that it belongs to only', async () => {
    const [waiting, dead] = [await aTask(3), await aTask(3, `state = 'dead', finished_at = now()`)]
    const statusOf = async (queue: string, task: string) => (await read(`/${queue}/${task}`)).status
    expect([await statusOf('waiting-work', waiting), await statusOf('dead-letter', waiting)]).toEqual([200, 404])
    expect([await statusOf('waiting-work', dead), await statusOf('dead-letter', dead)]).toEqual([404, 200])
    const { job } = (await read(`/dead-letter/${dead}`)).body
    expect(job.failedReason).toBe('Its runs are no longer in the log.')
  })

  it('counts ten thousand tasks at most, and shows no page beyond them', async () => {
    await api.db.query(
      `WITH made AS (
         INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
         SELECT uuid_v7(clock_timestamp()), $1, 'task', at, at
         FROM (SELECT now() + i * interval '1 hour' AS at FROM generate_series(1, 10010) i) due RETURNING id
       )
       INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       SELECT id, 'n', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
      [newUuid()],
    )
    const last = await see('delayed', 500, 20)
    expect([last.counts.delayed, last.pagination.pageCount, last.jobs.length]).toEqual([10_000, 500, 20])
    expect(idsOf(await see('delayed', 501, 20))).toEqual([])
    expect((await see('delayed', 1, 1_000_000)).jobs.length).toBe(10_000)
  })
})
