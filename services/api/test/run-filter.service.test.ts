import { fromId, newUuid, toId } from '@belfry/domain/id'
import { type FilteredRun, matchesRun, parseStatusRange, type RunFilter } from '@belfry/domain/run-filter'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Json, useApi } from './setup.ts'

const api = useApi()

const cronJobs = [newUuid(), newUuid()]
const values = {
  source: ['task', 'cron', 'event', 'callback'],
  cronjob_id: cronJobs.map(id => toId('cron', id)),
  topic: ['orders.paid', 'orders'],
  error: ['timeout', 'http_status', 'dns'],
  host: ['example.com', 'EXAMPLE.com:8443', 'other.test', '{{ secrets.url }}', '{{ secrets.host }}', 'user@other.test'],
  response_status: ['2xx', '404', '5XX', '503'],
}
const names = ['Alpha', 'Alphabet', 'alpha', '100% _x', '']
const urls = [
  ...['https://Example.com/a', 'https://example.com:8443/b?x=//y', 'http://other.test#f', 'https://other.test'],
  ...['https://{{ secrets.HOST }}/x', '{{ secrets.URL }}', 'https://user@other.test/?q'],
]
const labels = ['red', 'blue', 'order:1']
const startOf = (n: number) => new Date(Date.UTC(2026, 10, 20, 12, n))

const some = (list: readonly string[]) => fc.uniqueArray(fc.constantFrom(...list), { minLength: 1, maxLength: 3 })
const run = fc.record({
  name: fc.constantFrom(...names.filter(name => name !== '')),
  url: fc.constantFrom(...urls),
  labels: fc.uniqueArray(fc.constantFrom(...labels)),
  source: fc.constantFrom(...values.source),
  cronJobId: fc.constantFrom(null, ...cronJobs),
  topic: fc.constantFrom(null, ...values.topic, 'other'),
  outcome: fc.constantFrom([200, null], [204, null], [404, 'http_status'], [503, 'http_status'], [null, 'dns']),
  minute: fc.nat(5),
  lagMs: fc.constantFrom(0, 900, 1_000, 60_000),
})

/** Stores runs in a workspace of their own, and returns its caller. */
async function store(count: number) {
  const caller = await api.signUp()
  for (const { name, url, labels: own, source, cronJobId, topic, outcome, minute, lagMs } of fc.sample(run, {
    numRuns: count,
    seed: 7,
  })) {
    const [taskId, startedAt] = [newUuid(), startOf(minute)]
    const workspaceId = fromId('ws', caller.workspaceId)
    await api.db.query(
      `WITH requested AS (
         INSERT INTO task_requests (task_id, name, url, method, labels, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
         VALUES ($1, $3, $4, 'POST', $5, 5, 'fixed', 1000, 1000, 30000)
       ), labelled AS (
         INSERT INTO task_labels (workspace_id, label, task_id) SELECT $2, unnest($5::text[]), $1
       )
       INSERT INTO runs (id, workspace_id, task_id, attempt, source, cron_job_id, topic, status, response_status, error_code,
                         scheduled_at, started_at, finished_at)
       VALUES ($6, $2, $1, 1, $7, $8, $9, CASE WHEN $11::text IS NULL THEN 'success' ELSE 'failed' END::run_status, $10::int, $11,
               $12::timestamptz - $13 * interval '1 ms', $12, $12)`,
      [
        ...[taskId, workspaceId, name, url, own, newUuid(startedAt.getTime()), source, cronJobId, topic],
        ...[outcome[0], outcome[1], startedAt, lagMs],
      ],
    )
  }
  return caller
}

it('the log has the runs that its filter matches outside of PostgreSQL', { timeout: 300_000 }, async () => {
  const caller = await store(60)
  const list = async (query: string): Promise<Json[]> =>
    (await api.send('GET', `/api/v1/scheduler/runs?limit=100&${query}`, undefined, { 'X-Api-Key': caller.apiKey })).body
      .data
  const all = await list('')
  expect(all).toHaveLength(60)
  const taskIds = all.map(({ task_id }) => task_id)
  const include = Object.fromEntries(Object.entries(values).map(([name, given]) => [name, some(given)]))
  const exclude = Object.fromEntries(Object.entries(values).map(([name, given]) => [`not_${name}`, some(given)]))
  const filters = fc.record(
    {
      ...include,
      ...exclude,
      status: some(['success', 'failed']),
      task_id: some(taskIds.slice(0, 9)),
      label: some(labels),
      name: fc.constantFrom('Al', 'Alphabet', '100% _', 'a'),
      late_ms: fc.constantFrom(1, 900, 1_000, 90_000),
      not_name: some(['Alphabet', 'al', '100%']),
      from: fc.nat(6).map(startOf),
      to: fc.nat(6).map(startOf),
    },
    { requiredKeys: [] },
  )
  // Most filters match nothing when each has many members.
  const small = filters.chain(filter =>
    fc.subarray(Object.entries(filter), { maxLength: 3 }).map(entries => Object.fromEntries(entries)),
  )
  await fc.assert(
    fc.asyncProperty(small, async (filter: Record<string, string | string[] | number | Date>) => {
      const pairs = Object.entries(filter).flatMap(([name, value]) =>
        [value].flat().map(one => [name, one instanceof Date ? one.toISOString() : String(one)] as [string, string]),
      )
      const ranges = (given: unknown) => (given as string[] | undefined)?.flatMap(text => parseStatusRange(text) ?? [])
      const parsed: RunFilter = {
        ...(filter as RunFilter),
        response_status: ranges(filter.response_status),
        not_response_status: ranges(filter.not_response_status),
      }
      const found = await list(`${new URLSearchParams(pairs)}`)
      const expected = all.filter(one => matchesRun(parsed, one as FilteredRun))
      expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id))
    }),
    { numRuns: propertyRuns(1_000), examples: [[{ status: ['success'], response_status: ['503'] }]] },
  )
})
