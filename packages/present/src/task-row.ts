import type { RunErrorCode } from '@belfry/contract/run'
import type { RunStatus, TaskSource, TaskState } from '@belfry/db/generated/enums'
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

/**
 * `isReport`: whether the payload is what `payloadOf` makes the body of: the rows that a callback reports, or an event of MCP.
 * Default: no.
 */
export type StoredPayload = Pick<StoredRequest, 'payload'> & { isReport?: boolean | null }

/** A task with its request and its latest run. */
export type TaskRow = StoredRequest &
  StoredPayload &
  LastRunRow & {
    id: string
    workspaceId: string
    source: TaskSource
    state: TaskState
    stateReason: StateReason | null
    attempts: number
    executeAt: Date
    expiresAt: Date | null
    key: string | null
    labels: string[] | null
    dueAt: Date
    cronJobId: string | null
    eventId: string | null
    callbackOf: string | null
    replayOf: string | null
    createdAt: Date
    updatedAt: Date
    finishedAt: Date | null
    name: string
    topic: string | null
    createdBy: string | null
    updatedBy: string | null
    /** What an unfinished task waits for, apart from its time: 0 nothing, 1 its queue, 2 the operator. */
    waitsFor: number
  }
