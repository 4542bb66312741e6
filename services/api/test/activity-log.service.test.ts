import { parseInput } from '@belfry/contract/field-errors'
import { listRunsQuery } from '@belfry/contract/run'
import type { Pool } from '@belfry/db/postgres/pool'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import type { RunRow } from '@belfry/present/run-row'
import { describe, expect, it } from 'vitest'
import { readBounded } from '../src/http/bounded-page.ts'
import { scanRuns } from '../src/runs/run-scan.ts'
import { type RunSeed, type StoredRun, storeRuns } from './run-rows.ts'
import { type Caller, type Json, useApi } from './setup.ts'

// One session reads page after page.
const api = useApi({ RATE_LIMITS: 'off' })
const log = '/api/v1/scheduler/runs'

function uuid(kind: 'ws' | 'org', id: string): string {
  return fromId(kind, id) ?? ''
}

async function collect(path: string, query: URLSearchParams, headers: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await api.send('GET', `${path}?${query}${cursor && `&cursor=${cursor}`}`, undefined, headers)
    expect(page.status).toBe(200)
    ids.push(...page.body.data.map((run: Json) => run.id))
    cursor = page.body.next_cursor
  }
  return ids
}

async function addWorkspace(owner: Caller, name: string): Promise<string> {
  const path = `/api/v1/organizations/${owner.organizationId}/workspaces`
  const answer = await api.send('POST', path, { name }, { Authorization: `Bearer ${owner.token}` })
  return answer.body.id
}

const hour = 3_600_000
const start = Date.now() - 40 * hour
const cronJobs = [newUuid(), newUuid()]
const tasks = Array.from({ length: 5 }, () => newUuid())

// Every combination of filters, in an order that looks random and never changes.
function seeds(workspaces: string[], count: number): RunSeed[] {
  return Array.from({ length: count }, (_, i) => {
    const n = (i * 7919) % 1009
    const source = (['task', 'cron', 'event', 'callback'] as const)[(n % 7) % 4] ?? 'task'
    const status = n % 4 === 0 ? 'failed' : 'success'
    return {
      workspaceId: workspaces[n % workspaces.length] ?? '',
      taskId: tasks[n % 5] ?? '',
      source,
      status,
      cronJobId: source === 'cron' ? (cronJobs[n % 2] ?? null) : null,
      topic: source === 'event' ? `orders.${n % 4}` : null,
      responseStatus: status === 'success' ? 200 + (n % 3) : ([404, 500, 503, null][(n % 7) % 4] ?? null),
      startedAt: new Date(start + i * 0.1 * hour),
    }
  })
}

type Filters = Record<string, string[]>

function matches(run: StoredRun, filters: Filters): boolean {
  const is = (name: string, value: string | null) => filters[name] === undefined || filters[name].includes(value ?? '')
  const status = String(run.responseStatus)
  const hasStatus = filters.response_status?.some(each => each === status || each === `${status[0]}xx`) ?? true
  const [from] = filters.from ?? []
  const [to] = filters.to ?? []
  return (
    is('status', run.status) &&
    is('source', run.source) &&
    is('topic', run.topic) &&
    is('task_id', toId('task', run.taskId)) &&
    is('cronjob_id', run.cronJobId && toId('cron', run.cronJobId)) &&
    is('workspace_id', toId('ws', run.workspaceId)) &&
    hasStatus &&
    !isExcluded(run, filters) &&
    (!from || run.startedAt >= new Date(from)) &&
    (!to || run.startedAt < new Date(to))
  )
}

function isExcluded(run: StoredRun, filters: Filters): boolean {
  const isNot = (name: string, value: string | null) => filters[name]?.includes(value ?? '') ?? false
  const status = String(run.responseStatus)
  return (
    isNot('not_source', run.source) ||
    isNot('not_topic', run.topic) ||
    isNot('not_cronjob_id', run.cronJobId && toId('cron', run.cronJobId)) ||
    (filters.not_response_status?.some(each => each === status || each === `${status[0]}xx`) ?? false)
  )
}

function newestFirst(runs: StoredRun[]): string[] {
  return runs
    .map(({ id }) => toId('run', id))
    .sort()
    .reverse()
}

const cases: Filters[] = [
  {},
  { from: ['1970-01-01T00:00:00Z'] },
  { status: ['failed'] },
  { status: ['success'] },
  { status: ['failed', 'success'] },
  { task_id: [toId('task', tasks[1] ?? ''), toId('task', tasks[3] ?? '')] },
  { cronjob_id: cronJobs.map(id => toId('cron', id)) },
  { cronjob_id: [toId('cron', cronJobs[0] ?? '')], status: ['failed'] },
  { topic: ['orders.1', 'orders.3'] },
  { topic: ['orders.2'], source: ['event'], status: ['success'] },
  { source: ['cron', 'event'] },
  { response_status: ['5xx'] },
  { response_status: ['404', '201'] },
  { response_status: ['2xx'], status: ['failed'] },
  { from: [new Date(start + 5 * hour).toISOString()], to: [new Date(start + 20 * hour).toISOString()] },
  { from: [new Date(start + 5.01 * hour).toISOString()], status: ['failed'], response_status: ['5xx', '404'] },
  { task_id: [toId('task', tasks[0] ?? '')], topic: ['orders.0'], cronjob_id: [toId('cron', newUuid())] },
  { not_source: ['cron', 'event'] },
  { not_topic: ['orders.1', 'orders.3'] },
  { not_cronjob_id: [toId('cron', cronJobs[0] ?? '')], source: ['cron'] },
  { not_response_status: ['404', '5xx'], status: ['failed'] },
  { not_response_status: ['2xx'] },
]

function toQuery(filters: Filters, limit: number): URLSearchParams {
  const pairs = Object.entries(filters).flatMap(([name, values]) => values.map(value => [name, value]))
  return new URLSearchParams([...pairs, ['limit', String(limit)]])
}

describe('the activity log', () => {
  it('finds exactly the runs that every filter selects, page by page, in one workspace and in all', async () => {
    const owner = await api.signUp()
    const more = [await addWorkspace(owner, 'Two'), await addWorkspace(owner, 'Three')]
    const workspaces = [owner.workspaceId, ...more]
    const stranger = await api.signUp()
    const all = [...workspaces, stranger.workspaceId].map(id => uuid('ws', id))
    const runs = await storeRuns(api.db, seeds(all, 240))
    const session = { Authorization: `Bearer ${owner.token}` }
    for (const filters of cases) {
      const own = runs.filter(run => matches(run, { ...filters, workspace_id: [owner.workspaceId] }))
      const found = await collect(log, toQuery(filters, 15), { 'X-Api-Key': owner.apiKey })
      expect([filters, found]).toEqual([filters, newestFirst(own)])

      const everywhere = runs.filter(run => matches(run, { ...filters, workspace_id: workspaces }))
      const path = `/api/v1/organizations/${owner.organizationId}/runs`
      expect([filters, await collect(path, toQuery(filters, 40), session)]).toEqual([filters, newestFirst(everywhere)])

      const narrowed = { ...filters, workspace_id: [more[0] ?? '', stranger.workspaceId] }
      const visible = runs.filter(run => matches(run, { ...filters, workspace_id: [more[0] ?? ''] }))
      expect([filters, await collect(path, toQuery(narrowed, 40), session)]).toEqual([filters, newestFirst(visible)])
    }
  }, 120_000)

  it('leaves out runs by name, host and error', async () => {
    const { workspaceId, apiKey } = await api.signUp()
    const runs = await storeRuns(
      api.db,
      ['A', 'B', 'C', 'D'].map(() => ({ workspaceId: uuid('ws', workspaceId) })),
    )
    const change = `UPDATE task_requests SET name = $2, url = $3 WHERE task_id = $1`
    await api.db.query(change, [runs[0]?.taskId, 'Charge 1', 'https://Pay.example.com:8443/x'])
    await api.db.query(change, [runs[1]?.taskId, 'Charge 2', 'https://example.com/pay'])
    await api.db.query(`UPDATE runs SET status = 'failed', error_code = 'timeout' WHERE id = $1`, [runs[2]?.id])
    const found = async (query: string) => {
      const ids = await collect(log, new URLSearchParams(query), { 'X-Api-Key': apiKey })
      return ids.map(id => 'ABCD'[runs.findIndex(run => toId('run', run.id) === id)]).join('')
    }
    expect(await found('not_name=Charge')).toBe('DC')
    expect(await found('not_name=Charge%201&not_name=A%20t')).toBe('B')
    expect(await found('not_host=PAY.example.com:8443')).toBe('DCB')
    expect(await found('not_host=pay.example.com:8443&not_host=example.com')).toBe('')
    expect(await found('not_error=timeout&not_error=dns')).toBe('DBA')
    expect(await found('host=example.com&not_name=Charge')).toBe('DC')
  })

  it('completes a selective filter in pages that may be short or empty', async () => {
    const [busy, quiet] = [newUuid(), newUuid()]
    const status = (found: boolean) => ({ responseStatus: found ? 201 : 200 })
    // The runs of the busy workspace are newer, and found later than those of the quiet one.
    const runs = await storeRuns(api.db, [
      ...Array.from({ length: 10 }, () => ({ workspaceId: quiet, ...status(true) })),
      ...Array.from({ length: 300 }, (_, i) => ({ workspaceId: busy, ...status(i % 90 === 0) })),
    ])
    const query = parseInput(listRunsQuery, { response_status: '201' })
    if (!query.ok) throw new Error('The query is fine.')
    const scan = { ...scanRuns([busy, quiet], query.value), maxScanned: 80 }
    const found: string[] = []
    const lengths: number[] = []
    for (let after: string | undefined | null; after !== null; ) {
      const { rows, next } = await readBounded<RunRow>(api.ctx, scan, after, 3)
      found.push(...rows.map(({ id }) => toId('run', id)))
      lengths.push(rows.length)
      after = next
    }
    expect(found).toEqual(newestFirst(runs.filter(run => run.responseStatus === 201)))
    expect(lengths).toContain(0)
    expect(lengths.length).toBeGreaterThan(300 / 40)
  })

  it('skips no run when others leave the list while a page is read', async () => {
    const workspaceId = newUuid()
    const runs = await storeRuns(
      api.db,
      Array.from({ length: 60 }, (_, i) => ({ workspaceId, responseStatus: i === 5 ? 201 : 200 })),
    )
    const query = parseInput(listRunsQuery, { response_status: '201' })
    if (!query.ok) throw new Error('The query is fine.')
    const scan = { ...scanRuns([workspaceId], query.value), maxScanned: 40 }
    const newest = runs.slice(-20).map(({ id }) => id)
    const leave = async (text: string, values: unknown[]) => {
      const answer = await api.ctx.pool.query(text, values)
      await api.db.query('DELETE FROM runs WHERE workspace_id = $1 AND id = ANY ($2::uuid[])', [workspaceId, newest])
      return answer
    }
    const first = await readBounded<RunRow>({ pool: { query: leave } as unknown as Pool }, scan, undefined, 3)
    expect(first).toEqual({ rows: [], next: runs[20]?.id })
    const second = await readBounded<RunRow>(api.ctx, scan, first.next ?? undefined, 3)
    expect(second).toMatchObject({ rows: [{ id: runs[5]?.id }], next: null })
  })

  it('shows a member the workspaces of the member, and an outsider none', async () => {
    const owner = await api.signUp()
    const member = await api.signUp()
    const second = await addWorkspace(owner, 'Two')
    const [, inSecond] = await storeRuns(api.db, [
      { workspaceId: uuid('ws', owner.workspaceId) },
      { workspaceId: uuid('ws', second) },
    ])
    const path = `/api/v1/organizations/${owner.organizationId}/runs`
    const session = { Authorization: `Bearer ${member.token}` }
    expect((await api.send('GET', path, undefined, session)).status).toBe(404)
    expect((await api.send('GET', path, undefined, { 'X-Api-Key': owner.apiKey })).status).toBe(403)
    const { id: userId } = await api.ctx.prisma.user.findUniqueOrThrow({ where: { email: member.email } })
    const organizationId = uuid('org', owner.organizationId)
    await api.ctx.prisma.membership.create({ data: { organizationId, userId, role: 'member' } })
    expect((await api.send('GET', path, undefined, session)).body.data).toEqual([])
    await api.ctx.prisma.workspaceMember.create({ data: { workspaceId: uuid('ws', second), userId, role: 'viewer' } })
    const page = await api.send('GET', path, undefined, session)
    expect(page.body.data.map((run: Json) => run.id)).toEqual([toId('run', inSecond?.id ?? '')])
  })

  it('shows a binary response whole', async () => {
    const body = Buffer.from([0, 255, 1, 254, 0x80])
    const workspaceId = uuid('ws', api.caller.workspaceId)
    const [run] = await storeRuns(api.db, [{ workspaceId, responseBody: body }])
    const shown = await api.call('GET', `${log}/${toId('run', run?.id ?? '')}`)
    expect(shown.body.response).toMatchObject({ body: body.toString('base64'), body_encoding: 'base64', body_bytes: 5 })
  })

  it('refuses a cursor of other filters', async () => {
    const { body } = await api.call('GET', `${log}?limit=1`)
    const other = await api.call('GET', `${log}?status=failed&cursor=${body.next_cursor ?? 'x'}`)
    expect(other).toMatchObject({ status: 400, body: { errors: [{ path: 'cursor', code: 'invalid_cursor' }] } })
  })
})
