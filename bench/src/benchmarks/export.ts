import { request } from 'undici'
import { createApiKey } from '../lab/api-caller.ts'
import { startBelfry } from '../lab/belfry.ts'
import type { Database } from '../lab/database.ts'
import { measured, quantile } from '../measure/statistics.ts'
import { watchMemory } from '../measure/watch-memory.ts'
import type { Benchmark, Figure } from './benchmark.ts'

const shortLook = 100_000
const longLook = 1_000_000
const runsOfTask = 100

/** The memory of an API process that exports a long log. */
export const exportRuns: Benchmark = {
  name: 'export',
  title: 'An export of all runs of a workspace',
  async run(lab, { minutes }) {
    const count = minutes === null ? shortLook : longLook
    const database = await lab.freshDatabase()
    const belfry = await startBelfry(lab, database, { services: ['api'] })
    try {
      const key = await createApiKey(belfry.apiUrl)
      await storeRuns(database, count)
      const samples = []
      for (const format of ['csv', 'jsonl'] as const) {
        samples.push(await exportAll(belfry.apiUrl, belfry.pids('api')[0], { key, format, count }))
      }
      return {
        rounds: { runs: count, formats: samples },
        notes: minutes === null ? [`${count} runs; --minutes 1 exports ${longLook}.`] : [],
        figures: figuresOf(samples),
      }
    } finally {
      await belfry.stop()
      await database.close()
    }
  },
}

type Exported = { format: string; perSecond: number; megabytes: number[] }

function figuresOf(samples: readonly Exported[]): Figure[] {
  const growth = ({ megabytes }: Exported) => {
    const third = Math.floor(megabytes.length / 3)
    return quantile(megabytes.slice(2 * third), 0.5) / quantile(megabytes.slice(third, 2 * third), 0.5)
  }
  return [
    {
      key: 'export_memory_mb',
      title: 'resident memory of the API at its highest',
      unit: 'MB',
      ...measured(samples.map(({ megabytes }) => Math.max(...megabytes))),
    },
    {
      key: 'export_memory_growth',
      title: 'its median in the last third of an export / in the second third',
      ...measured(samples.map(growth)),
      limit: { atMost: 1.1 },
    },
    {
      key: 'export_runs_per_second',
      title: 'runs exported a second, CSV and JSON Lines',
      unit: '/s',
      ...measured(samples.map(({ perSecond }) => perSecond)),
    },
  ]
}

async function exportAll(
  apiUrl: string,
  pid: number | undefined,
  { key, format, count }: { key: string; format: 'csv' | 'jsonl'; count: number },
): Promise<Exported> {
  const over = new AbortController()
  const watching = watchMemory(pid, over.signal)
  const began = performance.now()
  try {
    const headers = { 'x-api-key': key }
    const answer = await request(`${apiUrl}/api/v1/scheduler/runs/export?format=${format}`, { headers })
    let lines = 0
    for await (const chunk of answer.body) for (const byte of chunk as Buffer) if (byte === newLine) lines++
    const expected = format === 'csv' ? count + 1 : count
    if (lines !== expected) throw new Error(`An export had ${lines} lines instead of ${expected}.`)
  } finally {
    over.abort()
  }
  const perSecond = (count / (performance.now() - began)) * 1000
  return { format, perSecond, megabytes: await watching }
}

const newLine = 0x0a

// In the workspace of the one account that the database has.
async function storeRuns({ pool }: Database, count: number): Promise<void> {
  const tasks = Math.ceil(count / runsOfTask)
  await pool.query(
    `CREATE TABLE exported AS
     SELECT uuid_v7(now() - interval '1 hour') AS id, (SELECT workspace_id FROM api_keys LIMIT 1) AS workspace_id
     FROM generate_series(1, $1::int)`,
    [tasks],
  )
  await pool.query(`
    INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at)
    SELECT id, workspace_id, 'task', 'dead', ${runsOfTask}, now(), now() FROM exported`)
  await pool.query(`
    INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT id, 'Exported', 'http://127.0.0.1:9/', 'POST', '{}', 3, 'exponential', 1000, 3600000, 30000 FROM exported`)
  await pool.query(`
    INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                      request_headers, response_status, response_headers, response_body, response_bytes)
    SELECT uuid_v7(now()), workspace_id, id, attempt, 'task', 'failed', now(), now(), now(),
           '{}', 500, '{}', '\\x61', 1
    FROM exported, generate_series(1, ${runsOfTask}) attempt`)
  await pool.query('ANALYZE tasks, task_requests, runs')
}
