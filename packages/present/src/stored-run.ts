import type { RunDetailRow, RunRow } from './run-row.ts'

type Times = 'scheduled_at' | 'started_at' | 'finished_at'

/** A run in object storage, and the request of its task, with the columns as PostgreSQL writes them in JSON. */
export type StoredRun = {
  run: Pick<RunRow, 'id' | 'source' | 'topic' | 'attempt' | 'status'> &
    Record<'workspace_id' | 'task_id' | Times, string> &
    Record<
      'cron_job_id' | 'request_headers' | 'response_headers' | 'response_body' | 'error_message',
      string | null
    > & {
      response_status: number | null
      response_bytes: number | null
      response_truncated: boolean
      error_code: RunRow['errorCode']
      waited_for: RunRow['waitedFor']
      timings: RunRow['timings']
    }
  request: Record<'name' | 'url' | 'method', string> &
    Record<'payload' | 'content_type', string | null> & { labels: string[] | null }
  /** Null when the task had gone before the run. */
  task: { run_id: string | null } | null
}

/** Parses a line of a part. Returns null for a run without a request, which no list shows. */
export function parseStoredLine(line: string): StoredRun | null {
  const stored = JSON.parse(line)
  return stored.request === null ? null : stored
}

/** Returns the row that PostgreSQL would return in a list. */
export function toRunRow({ run, request }: StoredRun): RunRow {
  return {
    id: run.id,
    workspaceId: run.workspace_id,
    taskId: run.task_id,
    taskName: request.name,
    source: run.source,
    cronJobId: run.cron_job_id,
    topic: run.topic,
    attempt: run.attempt,
    status: run.status,
    scheduledAt: new Date(run.scheduled_at),
    startedAt: new Date(run.started_at),
    finishedAt: new Date(run.finished_at),
    waitedFor: run.waited_for,
    timings: run.timings,
    url: request.url,
    method: request.method,
    responseStatus: run.response_status,
    errorCode: run.error_code,
    errorMessage: run.error_message,
  }
}

/** Returns the row that PostgreSQL would return for one run. */
export function toRunDetailRow(stored: StoredRun): RunDetailRow {
  const { run, request } = stored
  return {
    ...toRunRow(stored),
    payload: request.payload,
    contentType: request.content_type,
    requestHeaders: run.request_headers,
    responseHeaders: run.response_headers,
    // PostgreSQL writes bytes as \x and hexadecimal digits.
    responseBody: run.response_body === null ? null : Buffer.from(run.response_body.slice(2), 'hex'),
    responseBytes: run.response_bytes,
    responseTruncated: run.response_truncated,
  }
}
