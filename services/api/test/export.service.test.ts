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

  it('rejects unknown parameters', async () => {
    const caller = await api.signUp()
    expect((await read(caller, '/api/v1/scheduler/runs/export?format=xml')).status).toBe(400)
    expect((await read(caller, '/api/v1/scheduler/runs/export?limit=5')).status).toBe(400)
  })
})
