import { setTimeout as sleep } from 'node:timers/promises'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { storeRuns } from './run-rows.ts'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const api = useApi()

async function read(caller: Caller, path: string): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(api.url + path, { headers: { 'X-Api-Key': caller.apiKey } })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('an export', () => {
  it('has every run that the filters select, over many pages, in both formats', async () => {
    const caller = await api.signUp()
    const workspaceId = fromId('ws', caller.workspaceId) ?? ''
    const seeds = Array.from({ length: 2_500 }, (_, i) => ({
      workspaceId,
      status: i % 5 === 0 ? ('failed' as const) : ('success' as const),
      responseStatus: i % 5 === 0 ? 500 : 200,
    }))
    const runs = await storeRuns(api.db, [...seeds, { workspaceId: newUuid() }])
    const own = runs.filter(run => run.workspaceId === workspaceId)
    const ids = (list: typeof runs) =>
      list
        .map(({ id }) => toId('run', id))
        .sort()
        .reverse()

    await api.db.query(`UPDATE runs SET timings = '[4,11,null,42]' WHERE id = $1`, [own.at(-1)?.id])

    const csv = await read(caller, '/api/v1/scheduler/runs/export')
    expect(csv).toMatchObject({ status: 200, type: 'text/csv; charset=utf-8' })
    const [names, ...lines] = csv.text.trimEnd().split('\r\n')
    expect(names).toMatch(/^id,workspace_id,task_id,task_name,/)
    expect(lines.map(line => line.split(',')[0])).toEqual(ids(own))
    const first = names?.split(',').indexOf('dns_ms') ?? -1
    const timings = lines.slice(0, 2).map(line => line.split(',').slice(first, first + 4))
    expect(timings).toEqual([
      ['4', '11', '', '42'],
      ['', '', '', ''],
    ])

    const json = await read(caller, '/api/v1/scheduler/runs/export?format=jsonl&status=success&response_status=2xx')
    expect(json.type).toBe('application/x-ndjson; charset=utf-8')
    const objects = json.text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(objects.map(({ id }) => id)).toEqual(ids(own.filter(({ status }) => status === 'success')))
    expect(objects.slice(0, 2).map(({ timings }) => timings)).toEqual([
      { dns_ms: 4, connect_ms: 11, tls_ms: null, first_byte_ms: 42 },
      null,
    ])
    const single = await api.send('GET', `/api/v1/scheduler/runs?limit=1`, undefined, { 'X-Api-Key': caller.apiKey })
    expect(objects[0]).toEqual(
      single.body.data.find(({ status }: { status: string }) => status === 'success') ?? objects[0],
    )
  })

  it('of tasks keeps a name from being run by a spreadsheet', async () => {
    const caller = await api.signUp()
    const key = { 'X-Api-Key': caller.apiKey }
    await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody({ name: '=HYPERLINK("x")', payload: { n: 1 } }), key)
    const csv = await read(caller, '/api/v1/scheduler/tasks/export?state=pending')
    expect(csv.text.split('\r\n')[1]).toContain(`,"'=HYPERLINK(""x"")",task,`)
    const json = await read(caller, '/api/v1/scheduler/tasks/export?format=jsonl')
    expect(JSON.parse(json.text)).toMatchObject({ name: '=HYPERLINK("x")', payload: { n: 1 } })
  })

  it('breaks off when its key is revoked while its caller pauses', async () => {
    const caller = await api.signUp()
    const workspaceId = fromId('ws', caller.workspaceId)
    // A page is more than the buffers of a connection take.
    await api.db.query(
      `WITH added AS (
         INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
         SELECT uuid_v7(now()), $1, 'task', at, at
         FROM generate_series(1, 1500), LATERAL (SELECT now() + interval '1 year' AS at) due RETURNING id
       )
       INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       SELECT id, 'Large', 'https://example.com/', 'POST', '"' || repeat('x', 10000) || '"', 3, 'fixed', 1000, 1000, 1000 FROM added`,
      [workspaceId],
    )
    const headers = { 'X-Api-Key': caller.apiKey }
    const response = await fetch(`${api.url}/api/v1/scheduler/tasks/export?format=jsonl`, { headers })
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await api.db.query('UPDATE api_keys SET revoked_at = now() WHERE workspace_id = $1', [workspaceId])
    await sleep(2_500)
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow('terminated')
  })

  it('rejects unknown parameters', async () => {
    const caller = await api.signUp()
    expect((await read(caller, '/api/v1/scheduler/runs/export?format=xml')).status).toBe(400)
    expect((await read(caller, '/api/v1/scheduler/runs/export?limit=5')).status).toBe(400)
  })
})
