import type { RunErrorCode } from '@belfry/contract/run'
import type { Run, TaskRequest } from '@belfry/db/generated/client'
import type { WaitReason } from '@belfry/domain/wait-reason'
import type { StoredPayload } from './task-row.ts'

/** A run with columns of its task, as read for a list. */
export type RunRow = Pick<
  Run,
  'id' | 'workspaceId' | 'taskId' | 'source' | 'cronJobId' | 'topic' | 'attempt' | 'status'
> &
  Pick<Run, 'scheduledAt' | 'startedAt' | 'finishedAt' | 'timings' | 'responseStatus' | 'errorMessage'> &
  Pick<TaskRequest, 'url' | 'method'> & {
    taskName: string
    /** Missing in runs that an earlier version stored. */
    cronJobTimezone?: string | null
    labels: readonly string[] | null
    waitedFor: WaitReason | null
    errorCode: RunErrorCode | null
  }

export type RunDetailRow = RunRow &
  StoredPayload &
  Pick<TaskRequest, 'contentType'> &
  Pick<Run, 'requestHeaders' | 'responseHeaders' | 'responseBytes' | 'responseTruncated'> & {
    responseBody: Buffer | null
  }
