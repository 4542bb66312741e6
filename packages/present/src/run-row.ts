import type { RunErrorCode } from '@belfry/contract/run'
import type { RunStatus, TaskSource } from '@belfry/db/generated/enums'
import type { WaitReason } from '@belfry/domain/wait-reason'
import type { StoredPayload } from './task-row.ts'

/** A run with columns of its task, as read for a list. */
export type RunRow = {
  id: string
  workspaceId: string
  taskId: string
  taskName: string
  source: TaskSource
  cronJobId: string | null
  /** Missing in runs that an earlier version stored. */
  cronJobTimezone?: string | null
  topic: string | null
  labels: readonly string[] | null
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
export type RunDetailRow = RunRow &
  StoredPayload & {
    contentType: string | null
    requestHeaders: string | null
    responseHeaders: string | null
    responseBody: Buffer | null
    responseBytes: number | null
    responseTruncated: boolean
  }
