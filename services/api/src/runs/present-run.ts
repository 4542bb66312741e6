import type { Run } from '@belfry/contract/run'
import { toId } from '@belfry/domain/id'
import type { RunRow } from './run-row.ts'

/** Returns the public form of a run in a list. */
export function presentRun(row: RunRow): Run {
  return {
    id: toId('run', row.id),
    workspace_id: toId('ws', row.workspaceId),
    task_id: toId('task', row.taskId),
    task_name: row.taskName,
    source: row.source,
    cronjob_id: row.cronJobId && toId('cron', row.cronJobId),
    topic: row.topic,
    attempt: row.attempt,
    status: row.status,
    scheduled_at: row.scheduledAt.toISOString(),
    started_at: row.startedAt.toISOString(),
    finished_at: row.finishedAt.toISOString(),
    duration_ms: row.finishedAt.getTime() - row.startedAt.getTime(),
    lag_ms: row.startedAt.getTime() - row.scheduledAt.getTime(),
    waited_for: row.waitedFor,
    timings: row.timings === null ? null : presentTimings(row.timings),
    url: row.url,
    method: row.method,
    response_status: row.responseStatus,
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
  }
}

function presentTimings(text: string): Run['timings'] {
  const [dns, connect, tls, firstByte] = JSON.parse(text)
  return { dns_ms: dns, connect_ms: connect, tls_ms: tls, first_byte_ms: firstByte }
}
