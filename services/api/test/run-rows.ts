import type { Pool } from '@belfry/db/postgres/pool'
import { newUuid } from '@belfry/domain/id'

export type RunSeed = {
  workspaceId: string
  taskId?: string
  source?: 'task' | 'cron' | 'event' | 'callback'
  status?: 'success' | 'failed'
  cronJobId?: string | null
  topic?: string | null
  responseStatus?: number | null
  startedAt?: Date
  responseBody?: Buffer
}

export type StoredRun = Required<RunSeed> & { id: string }

/** Stores runs like the dispatcher. Ids are UUIDs, not public ids. */
export async function storeRuns(pool: Pool, seeds: readonly RunSeed[]): Promise<StoredRun[]> {
  const runs: StoredRun[] = seeds.map((seed, index) => {
    const startedAt = seed.startedAt ?? new Date(Date.now() - 60_000 + index)
    const defaults = { taskId: newUuid(), source: 'task', status: 'success', cronJobId: null, topic: null } as const
    const more = { responseStatus: 200, responseBody: Buffer.from('ok') }
    return { ...defaults, ...more, ...seed, startedAt, id: newUuid(startedAt.getTime()) }
  })
  await pool.query(
    `INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT DISTINCT unnest($1::uuid[]), 'A task', 'https://example.com/hook', 'POST', 5, 'fixed'::backoff, 1000, 1000, 30000
     ON CONFLICT DO NOTHING`,
    [runs.map(({ taskId }) => taskId)],
  )
  await pool.query(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                       response_status, cron_job_id, topic, response_body)
     SELECT id, ws, task, 1, source, status, at, at, at + interval '5 ms', code, cron, topic, body
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::task_source[], $5::run_status[], $6::timestamptz[], $7::int[],
                 $8::uuid[], $9::text[], $10::bytea[])
       AS r (id, ws, task, source, status, at, code, cron, topic, body)`,
    (['id', 'workspaceId', 'taskId', 'source', 'status', 'startedAt', 'responseStatus', 'cronJobId', 'topic'] as const)
      .map(name => runs.map(run => run[name] as unknown))
      .concat([runs.map(run => run.responseBody)]),
  )
  return runs
}
