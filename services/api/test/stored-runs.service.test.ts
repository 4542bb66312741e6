import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finishPart, readNextPart, startPart } from '@belfry/db/log-parts/store-part'
import { foldRunChanges } from '@belfry/db/run-statistics/fold-run-changes'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { checksumOf, type ObjectStorage, pack } from '@belfry/object-storage'
import { findObjectStore, type ObjectStore, startObjectStore } from '@belfry/test-support'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { maxRead } from '../src/runs/read-runs.ts'
import { type RunSeed, type StoredRun, storeRuns } from './run-rows.ts'
import { type Caller, type Json, useApi } from './setup.ts'

const day = 86_400_000
const log = '/api/v1/scheduler/runs'

// `.ci/install` builds the S3 server with Go.
describe.skipIf(findObjectStore() === null)('runs in object storage', () => {
  let folder: string
  let store: ObjectStore
  let caller: Caller

  const api = useApi(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belfry-log-'))
    store = await startObjectStore(folder)
    vi.stubEnv('AWS_ACCESS_KEY_ID', store.accessKey)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', store.secretKey)
    const endpoint = encodeURIComponent(store.endpoint)
    return { LOG_STORAGE_URL: `s3://${store.bucket}/log?endpoint=${endpoint}`, RATE_LIMITS: 'off' } // reads page after page
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await store?.close()
    await rm(folder, { recursive: true, force: true })
  })
  beforeEach(async () => {
    caller = await api.signUp()
  })

  it('are listed, filtered, exported and read like the others, over pages that cross the boundary', async () => {
    const seeds: RunSeed[] = Array.from({ length: 60 }, (_, i) => ({
      ...{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - (60 - i) * 0.2 * day) },
      ...{ status: i % 3 === 0 ? 'failed' : 'success', responseStatus: i % 3 === 0 ? 500 + (i % 2) : 201 },
      ...{ source: i % 4 === 0 ? 'event' : 'task', topic: i % 4 === 0 ? 'orders' : null },
    }))
    const runs = await storeRuns(api.db, seeds)
    const [labelled] = runs
    const timings = { dns_ms: 4, connect_ms: 11, tls_ms: null, first_byte_ms: 42 }
    const cronJob = {
      name: 'A job',
      url: 'https://example.com/',
      method: 'POST',
      cron: '0 9 1 1 *',
      timezone: 'Asia/Kathmandu',
    }
    const { body: job } = await api.send('POST', '/api/v1/scheduler/cronjobs', cronJob, { 'X-Api-Key': caller.apiKey })
    await api.db.query(
      `UPDATE runs SET waited_for = 'backlog', timings = '[4,11,null,42]', cron_job_id = $2 WHERE id = $1`,
      [runs[3]?.id, fromId('cron', job.id)],
    )
    await api.db.query(
      `UPDATE task_requests SET labels = '{red}', name = 'Other', url = 'https://Other.example.com:8443/x' WHERE task_id = $1`,
      [labelled?.taskId],
    )
    await api.db.query(`INSERT INTO task_labels (workspace_id, label, task_id) VALUES ($1, 'red', $2)`, [
      uuidOf(caller),
      labelled?.taskId,
    ])
    const queries = [
      '',
      'status=failed',
      'status=success',
      'source=event',
      'topic=orders',
      'response_status=5xx',
      'response_status=201',
      `task_id=${toId('task', labelled?.taskId ?? '')}`,
      'label=red',
      'name=Oth',
      'host=other.example.com:8443',
      'error=timeout',
      'not_source=event',
      'not_topic=orders',
      'not_response_status=5xx',
      `not_cronjob_id=${toId('cron', newUuid())}`,
      'not_name=Oth',
      'not_host=other.example.com:8443&not_host=example.org',
      'not_error=timeout',
      `from=${iso(-9)}&to=${iso(-2)}`,
      `from=${iso(-2)}`,
      `to=${iso(-9)}`,
      `status=failed&to=${iso(-1)}`,
    ]
    const read = async () => {
      while ((await foldRunChanges(api.db, 100)) > 0);
      const lists = []
      for (const query of queries) lists.push(await collect(`${log}?limit=7&${query}`))
      const exports = []
      for (const format of ['csv', 'jsonl'])
        exports.push((await get(`${log}/export?format=${format}&${queries[queries.length - 4]}`)).text)
      const one = await get(`${log}/${toId('run', runs[3]?.id ?? '')}`)
      const counts = (await get(`${log}/counts?from=${iso(-12)}`)).body.buckets
      const organization = await collect(`/api/v1/organizations/${caller.organizationId}/runs?limit=50`, session())
      return { lists, exports, organization, one: one.body, counts }
    }
    const before = await read()
    expect(before.lists.map(({ length }) => length).slice(0, 5)).toEqual([60, 20, 40, 15, 15])
    expect(before.lists.map(({ length }) => length).slice(12, 19)).toEqual([45, 45, 40, 60, 59, 59, 60])
    expect(before.counts.reduce((sum: number, { total }: Json) => sum + total, 0)).toBe(60)
    expect(await move(5)).toBeGreaterThan(30)
    expect(await read()).toEqual(before)
    expect(before.one).toMatchObject({ waited_for: 'backlog', timings, response: { body: 'ok' } })
    expect(before.one).toMatchObject({ cronjob_id: job.id, cronjob_timezone: 'Asia/Kathmandu' })
    await expect(get(`${log}/${toId('run', newUuid(Date.now() - 9 * day))}`)).resolves.toMatchObject({ status: 404 })
  }, 120_000)

  it('say that a page came from object storage, which is slower', async () => {
    await storeRuns(
      api.db,
      [9, 8, 1].map(ago => ({ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - ago * day) })),
    )
    await move(5)
    const pages = [`${log}?limit=1`, `${log}?limit=3`, `${log}?from=${iso(-2)}`]
    const flags = await Promise.all(pages.map(async path => (await get(path)).body.from_storage))
    expect(flags).toEqual([false, true, false])
  })

  it('are not in groups of failures and searches, which say that they are partial', async () => {
    const partial = async (path: string) => (await get(path)).body.is_partial
    const ago = (days: number, status: 'failed' | 'success') => ({
      ...{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - days * day), status },
    })
    await storeRuns(api.db, [ago(9, 'failed'), ago(8, 'failed'), ago(1, 'failed')])
    const paths = [`${log}/failures`, `${log}/failures?from=${iso(-2)}`, '/api/v1/scheduler/search?q=nothing']
    expect(await Promise.all(paths.map(partial))).toEqual([false, false, false])
    await move(5)
    expect(await Promise.all(paths.map(partial))).toEqual([true, false, true])
    expect((await get(paths[0] ?? '')).body.counted).toBe(1)
  })

  it('leave their task readable, as it was', async () => {
    const startedAt = new Date(Date.now() - 9 * day)
    const [run] = await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt }])
    await storeTask(run)
    await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - 8 * day) }])
    const path = `/api/v1/scheduler/tasks/${toId('task', run?.taskId ?? '')}`
    const before = await get(path)
    expect([before.status, before.body.last_run.id]).toEqual([200, toId('run', run?.id ?? '')])
    expect(await move(5)).toBe(2)
    const { rowCount } = await api.db.query('SELECT FROM tasks WHERE workspace_id = $1', [uuidOf(caller)])
    expect(rowCount).toBe(0)
    expect((await get(path)).body).toEqual(before.body)
    // What changes or repeats a task needs it in PostgreSQL.
    const replayed = await api.send('POST', `${path}/replay`, undefined, { 'X-Api-Key': caller.apiKey })
    expect([replayed.status, replayed.body.detail]).toEqual([404, expect.stringContaining('restored')])
    expect((await get(`/api/v1/scheduler/tasks/${toId('task', newUuid())}`)).status).toBe(404)
    const other = await api.signUp()
    expect((await api.send('GET', path, undefined, { 'X-Api-Key': other.apiKey })).status).toBe(404)
  })

  it('of a task are searched in at most 20 parts that may have it', async () => {
    const days = Array.from({ length: maxRead.parts + 1 }, (_, i) => i + 3)
    const taskId = newUuid(Date.now() - 40 * day)
    const runs = await storeRuns(
      api.db,
      days.map(ago => ({
        workspaceId: uuidOf(caller),
        startedAt: new Date(Date.now() - ago * day),
        ...(ago === 3 && { taskId }),
      })),
    )
    const last = runs.find(run => run.taskId === taskId)
    await storeTask(last)
    await move(1)
    const found = async () => {
      const reads = vi.spyOn(api.ctx.logStorage as ObjectStorage, 'read')
      const { status, body } = await get(`/api/v1/scheduler/tasks/${toId('task', taskId)}`)
      const count = reads.mock.calls.length
      reads.mockRestore()
      return { status, detail: body.detail, count }
    }
    expect(await found()).toMatchObject({ status: 200, count: 1 })
    const widen = `UPDATE log_parts SET first_task_id = '00000000-0000-0000-0000-000000000000', last_task_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' WHERE workspace_id = $1`
    await api.db.query(widen, [uuidOf(caller)])
    expect(await found()).toMatchObject({
      status: 404,
      detail: expect.stringContaining('task_id='),
      count: maxRead.parts,
    })
    const oldest = 'SELECT id FROM log_parts WHERE workspace_id = $1 ORDER BY last_run_id LIMIT 1'
    await api.db.query(`DELETE FROM log_parts WHERE id = (${oldest})`, [uuidOf(caller)])
    expect(await found()).toMatchObject({ status: 200, count: maxRead.parts })
  }, 120_000)

  it('end a page after five seconds of reading, and the next page continues', async () => {
    const runs = await storeRuns(
      api.db,
      [9, 8, 7].map(ago => ({ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - ago * day) })),
    )
    await move(5)
    const readsOf = async (msOfRead: number) => {
      const storage = api.ctx.logStorage as ObjectStorage
      const [now, read] = [performance.now.bind(performance), storage.read]
      let spent = 0
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + spent)
      const reads = vi.spyOn(storage, 'read').mockImplementation(key => {
        spent += msOfRead
        return read(key)
      })
      const { body } = await get(log)
      clock.mockRestore()
      reads.mockRestore()
      return [body.data.length, body.next_cursor === null]
    }
    expect(await readsOf(maxRead.ms + 1)).toEqual([1, false])
    expect(await readsOf(maxRead.ms / 2 + 1)).toEqual([2, false])
    expect(await readsOf(100)).toEqual([3, true])
    expect((await collect(log)).map(({ id }) => id)).toEqual(newestFirst(runs))
  })

  it('are read from two parts at once, however many requests there are', async () => {
    await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - 9 * day) }])
    await move(5)
    const storage = api.ctx.logStorage as ObjectStorage
    const { read } = storage
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    let open = 0
    const reads = vi.spyOn(storage, 'read').mockImplementation(async key => {
      open++
      await released
      return read(key)
    })
    const answers = Array.from({ length: 5 }, () => get(log))
    await vi.waitFor(() => expect([open, api.ctx.partLimit.pendingCount]).toEqual([2, 3]), 20_000)
    release()
    expect((await Promise.all(answers)).map(({ body }) => body.data.length)).toEqual([1, 1, 1, 1, 1])
    reads.mockRestore()
  })

  it('are not shown to another tenant', async () => {
    const [run] = await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - 9 * day) }])
    await move(5)
    const path = `${log}/${toId('run', run?.id ?? '')}`
    expect((await get(path)).status).toBe(200)
    const other = await api.signUp()
    const asOther = { 'X-Api-Key': other.apiKey }
    expect((await api.send('GET', path, undefined, asOther)).status).toBe(404)
    expect((await api.send('GET', log, undefined, asOther)).body.data).toEqual([])
  })

  it('end a page early when it would read more than 20 parts, and the next page continues', async () => {
    const days = Array.from({ length: maxRead.parts + 5 }, (_, i) => i + 3)
    const runs = await storeRuns(
      api.db,
      days.map(ago => ({ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - ago * day) })),
    )
    expect(await move(1)).toBe(days.length)
    const first = await get(`${log}?limit=50`)
    expect(first.body.data).toHaveLength(maxRead.parts)
    expect(first.body.next_cursor).not.toBeNull()
    const none = await get(`${log}?limit=50&name=Nothing`)
    expect([none.body.data, typeof none.body.next_cursor]).toEqual([[], 'string'])
    expect((await collect(`${log}?limit=50`)).map(({ id }) => id)).toEqual(newestFirst(runs))
    expect(await collect(`${log}?limit=50&name=Nothing`)).toEqual([])
  }, 120_000)

  it('are merged with runs of the same time that are in PostgreSQL again, none twice', async () => {
    const seeds = Array.from({ length: 30 }, (_, i) => ({
      workspaceId: uuidOf(caller),
      startedAt: new Date(Date.now() - 9 * day + i),
    }))
    const stored = await storeRuns(api.db, seeds)
    await move(5)
    const late = await storeRuns(
      api.db,
      seeds.map(seed => ({ ...seed, startedAt: new Date(seed.startedAt.getTime() + 1) })),
    )
    // Like a list that has read PostgreSQL before the runs of a part were deleted.
    await api.db.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
      SELECT $1, $2, $3, 1, 'task', 'success', now(), now(), now()`,
      [stored[4]?.id, uuidOf(caller), late[0]?.taskId],
    )
    for (const limit of [1, 7, 100])
      expect((await collect(`${log}?limit=${limit}`)).map(({ id }) => id)).toEqual(newestFirst([...stored, ...late]))
  }, 120_000)

  it('are still found for a minute after their day was restored', async () => {
    const runs = await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - 9 * day) }])
    await move(5)
    await api.db.query(`UPDATE log_parts SET state = 'restored', restored_at = now() WHERE workspace_id = $1`, [
      uuidOf(caller),
    ])
    expect((await collect(log)).map(({ id }) => id)).toEqual(newestFirst(runs))
    await api.db.query(`UPDATE log_parts SET restored_at = now() - interval '2 minutes' WHERE workspace_id = $1`, [
      uuidOf(caller),
    ])
    expect(await collect(log)).toEqual([])
  })

  it('get 503 with a code of their own when their object is missing, and newer runs are listed', async () => {
    const [, recent] = await storeRuns(
      api.db,
      [9, 1].map(ago => ({ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - ago * day) })),
    )
    await move(5)
    await api.db.query(`UPDATE log_parts SET object_key = 'gone' WHERE workspace_id = $1`, [uuidOf(caller)])
    const failed = await get(log)
    expect([failed.status, failed.body.code, failed.headers.get('Retry-After')]).toEqual([
      503,
      'log_storage_unavailable',
      '5',
    ])
    const hot = await get(`${log}?from=${iso(-2)}`)
    expect(hot.body.data.map(({ id }: Json) => id)).toEqual([toId('run', recent?.id ?? '')])
    // The retention has deleted the part after the list found it.
    await api.db.query(`UPDATE log_parts SET state = 'deleting' WHERE workspace_id = $1`, [uuidOf(caller)])
    expect((await get(log)).body.data).toHaveLength(1)
  })

  it('get 503 while the storage does not answer', async () => {
    await storeRuns(api.db, [{ workspaceId: uuidOf(caller), startedAt: new Date(Date.now() - 9 * day) }])
    await move(5)
    await store.whileDown(async () => {
      const failed = await get(log)
      expect([failed.status, failed.body.code]).toEqual([503, 'log_storage_unavailable'])
      expect((await get(`${log}?from=${iso(-2)}`)).status).toBe(200)
    })
  }, 60_000)

  async function storeTask(run: StoredRun | undefined): Promise<void> {
    await api.db.query(
      `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, created_at, finished_at)
       VALUES ($1, $2, 'task', 'success', 1, $4, $4, $3, $4, $4)`,
      [run?.taskId, run?.workspaceId, run?.id, run?.startedAt],
    )
  }

  const uuidOf = ({ workspaceId }: Caller) => fromId('ws', workspaceId) ?? ''
  const iso = (days: number) => new Date(Date.now() + days * day).toISOString()
  const session = () => ({ Authorization: `Bearer ${caller.token}` })
  const get = (path: string) => api.send('GET', path, undefined, { 'X-Api-Key': caller.apiKey })
  const newestFirst = (runs: StoredRun[]) =>
    runs
      .map(({ id }) => toId('run', id))
      .sort()
      .reverse()

  async function collect(
    path: string,
    headers: Record<string, string> = { 'X-Api-Key': caller.apiKey },
  ): Promise<Json[]> {
    const items: Json[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const separator = path.includes('?') ? '&' : '?'
      const page = await api.send('GET', `${path}${cursor && `${separator}cursor=${cursor}`}`, undefined, headers)
      expect(page.status).toBe(200)
      items.push(...page.body.data)
      cursor = page.body.next_cursor
    }
    return items
  }

  /** Moves the runs of the caller's workspace that are older than some days, like the scheduler. Returns how many. */
  async function move(hotDays: number): Promise<number> {
    const workspaceId = uuidOf(caller)
    let moved = 0
    for (let after: string | null = null; ; ) {
      const { day: of, runs, next } = await readNextPart(api.db, { workspaceId, hotDays, keptDays: 365, after })
      if (next === null) return moved
      after = next
      if (of === null) continue
      const object = await pack(runs.map(({ line }) => line).reverse())
      const content = { workspaceId, day: of, runs, objectBytes: object.length, checksum: checksumOf(object) }
      const part = await startPart(api.db, content, () => `${workspaceId}/${randomUUID()}`)
      await api.ctx.logStorage?.write(part?.objectKey ?? '', object, content.checksum)
      expect(await finishPart(api.db, workspaceId, part?.id ?? '', runs)).toBe(true)
      moved += runs.length
    }
  }
})
