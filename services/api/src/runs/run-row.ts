import type { RunErrorCode } from '@belfry/contract/run'
import type { RunStatus, TaskSource } from '@belfry/db/generated/enums'
import type { WaitReason } from '@belfry/domain/wait-reason'

/** A run with columns of its task, as read for a list. */
export type RunRow = {
  id: string
  workspaceId: string
  taskId: string
  taskName: string
  source: TaskSource
  cronJobId: string | null
  topic: string | null
  attempt: number
  status: RunStatus
  scheduledAt: Date
  startedAt: Date
  finishedAt: Date
  waitedFor: WaitReason | null
  /** The milliseconds of the DNS lookup, the TCP connect, the TLS handshake and the first byte, as a JSON array. */
  timings: string | null
  url: string
  method: string
  responseStatus: number | null
  errorCode: RunErrorCode | null
  errorMessage: string | null
}

/** A run with its request and its response. */
export type RunDetailRow = RunRow & {
  payload: string | null
  contentType: string | null
  requestHeaders: string | null
  responseHeaders: string | null
  responseBody: Buffer | null
  responseBytes: number | null
  responseTruncated: boolean
}

/** The columns of a run in a list, without bodies. `u` is the run, `r` its task's request. */
export const runColumns = `
  u.id, u.workspace_id AS "workspaceId", u.task_id AS "taskId", r.name AS "taskName", u.source,
  u.cron_job_id AS "cronJobId", u.topic, u.attempt, u.status, u.scheduled_at AS "scheduledAt",
  u.started_at AS "startedAt", u.finished_at AS "finishedAt", u.waited_for AS "waitedFor", u.timings, r.url, r.method,
  u.response_status AS "responseStatus", u.error_code AS "errorCode", u.error_message AS "errorMessage"`

/** Joins the request of a run's task. */
export const joinRequests = 'JOIN task_requests r ON r.task_id = u.task_id'
