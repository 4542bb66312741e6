import type { RunErrorCode } from '@belfry/contract/run'
import type { Task, TaskRequest } from '@belfry/db/generated/client'
import type { RunStatus } from '@belfry/db/generated/enums'
import type { StoredRequest } from '@belfry/db/tasks/stored-request'
import type { StateReason } from '@belfry/domain/task-state'

/** The latest run of a task or a cron job. */
export type LastRunRow = {
  lastRunId: string | null
  lastRunStatus: RunStatus | null
  lastRunResponseStatus: number | null
  lastRunErrorCode: RunErrorCode | null
  lastRunFinishedAt: Date | null
}

/** A payload, and whether it is what `payloadOf` makes the body of. */
export type StoredPayload = Pick<TaskRequest, 'payload'> & Partial<Pick<TaskRequest, 'isReport'>>

export type TaskRow = StoredRequest &
  StoredPayload &
  LastRunRow &
  Pick<Task, 'id' | 'workspaceId' | 'source' | 'state' | 'attempts' | 'key' | 'cronJobId' | 'eventId' | 'callbackOf'> &
  Pick<Task, 'waitsFor' | 'replayOf' | 'executeAt' | 'dueAt' | 'expiresAt' | 'createdAt' | 'updatedAt' | 'finishedAt'> &
  Pick<TaskRequest, 'name' | 'topic' | 'createdBy' | 'updatedBy'> & {
    stateReason: StateReason | null
    labels: string[] | null
  }
