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
    const { body } = await read(`?activeQueue=dead-letter&status=${status}&page=${page}&jobsPerPage=${size}`)
    return body.queues.find(({ name }: Json) => name === 'dead-letter')
  }
  const idsOf = (queue: Json): string[] => queue.jobs.map(({ id }: Json) => id)

  async function aTask(set?: string): Promise<string> {
    const executeAt = new Date(Date.now() + 60_000).toISOString()
    const body = aTaskBody({ execute_at: executeAt, url: 'https://example.com/hook?token=hidden' })
    const { id } = (await api.call('POST', '/api/v1/scheduler/tasks', body)).body
    if (set) await api.db.query(`UPDATE tasks SET ${set} WHERE id = $1`, [fromId('task', id)])
    return id
  }

  it('has the dead letters only', async () => {
    const { body } = await read('')
    expect(body.queues.map(({ name, readOnlyMode }: Json) => [name, readOnlyMode])).toEqual([['dead-letter', false]])
    expect((await api.send('GET', '/admin/queues/api/redis/stats', undefined, operator)).status).toBe(403)
  })

  it('shows the dead letters of PostgreSQL, the newest first', async () => {
    await aTask()
    const old = await aTask(`state = 'dead', finished_at = now() - interval '1 hour'`)
    const recent = await aTask(`state = 'dead', finished_at = now()`)
    const middle = await aTask(`state = 'dead', finished_at = now() - interval '1 minute'`)
    await aTask(`state = 'dead', finished_at = now(), settled_at = now()`)
    expect((await see('failed')).counts).toMatchObject({ active: 0, waiting: 0, delayed: 0, failed: 3 })
    for (const status of ['failed', 'latest']) expect(idsOf(await see(status))).toEqual([recent, middle, old])
    expect(idsOf(await see('failed', 2, 2))).toEqual([old])
    expect(idsOf(await see('failed', 100_000, 100))).toEqual([])
  })

  it('shows the workspace, the due time and the origin of a task, and no more', async () => {
    const task = await aTask(`state = 'dead', finished_at = now()`)
    const { job, status } = (await read(`/dead-letter/${task}`)).body
    expect(status).toBe('failed')
    expect(job.data).toEqual({
      task,
      workspace: api.caller.workspaceId,
      target: 'https://example.com',
      due_at: expect.stringMatching(/^\d{4}-.*Z$/),
      state: 'dead',
      attempts: 0,
    })
    expect(job.failedReason).toBe('Its runs are no longer in the log.')
    expect(JSON.stringify(job)).not.toContain('hidden')
    for (const part of ['flow', 'logs'])
      expect([part, (await read(`/dead-letter/${task}/${part}`)).status]).toEqual([part, 200])
  })

  it('has no job for an unknown task, nor for a pending task', async () => {
    expect((await read('/dead-letter/task_x')).status).toBe(404)
    expect((await read(`/dead-letter/${await aTask()}`)).status).toBe(404)
  })

  it('counts ten thousand dead letters at most, and shows no page beyond them', async () => {
    await api.db.query(
      `WITH made AS (
         INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
         SELECT uuid_v7(clock_timestamp()), $1, 'task', 'dead', at, at, at
         FROM (SELECT now() - i * interval '1 second' AS at FROM generate_series(1, 10010) i) due RETURNING id
       )
       INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       SELECT id, 'n', 'https://example.com/x', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
      [newUuid()],
    )
    const last = await see('failed', 500, 20)
    expect([last.counts.failed, last.pagination.pageCount, last.jobs.length]).toEqual([10_000, 500, 20])
    expect(idsOf(await see('failed', 501, 20))).toEqual([])
    expect((await see('failed', 1, 1_000_000)).jobs.length).toBe(10_000)
  })
})
