import { timeOfUuid } from '@belfry/domain/id'
import type { TaskRequest } from '../generated/client.ts'
import { namesOf, type StoredRequest, usualColumns } from './stored-request.ts'

type Origin = Pick<TaskRequest, 'topic' | 'traceparent' | 'depth' | 'subscriptionId' | 'isReport'>

export type ClaimedTask = Omit<StoredRequest, 'callbacks' | 'queue'> &
  Origin & {
    taskId: string
    workspaceId: string
    cronJobId: string | null
    /** No attempt starts then or later, in epoch milliseconds of the database's clock; null for never. */
    expiresAt: number | null
    /** 1 for the first attempt. */
    attempt: number
    /** How many earlier attempts were lost with their dispatcher. They do not count as retries. */
    lost: number
    /** Whether the attempt needs an entry in the send journal before it is sent. */
    prefetched: boolean
    /** The queue with a limit that must advance after the attempt; null for most tasks. */
    queueId: string | null
    runId: string
    executeAt: Date
    /** When this attempt was due. */
    scheduledAt: Date
    /** When it was claimed, by the database's clock. */
    claimedAt: Date
  }

/**
 * The answer to a claim:
 * - `claimed`: the caller owns the attempt, and received it at `receivedAt` of the caller's `performance.now()`.
 * - `early`: the task is due in `dueInMs`.
 * - `busy`: another transaction holds the row; ask again with the same token.
 * - `moved`: the task calls another origin than the request names.
 * - `queued`: the queue of the task has a limit, so the request must say so.
 * - `blocked`: the queue of the task is at its limit. PostgreSQL makes the task due again once an attempt may start.
 * - `not_prefetchable`: the task may be claimed for a free slot only.
 * - `gone`: another dispatcher has the task, or it is cancelled, finished, held, in quarantine or unknown. `refusal` is
 *   the reason when this claim has ended the task.
 */
export type Claim =
  | { kind: 'claimed'; task: ClaimedTask; receivedAt: number }
  | { kind: 'early'; dueInMs: number }
  | { kind: 'busy' }
  | { kind: 'moved'; origin: string }
  | { kind: 'queued' }
  | { kind: 'blocked'; queueId: string }
  | { kind: 'not_prefetchable' }
  | { kind: 'gone'; refusal?: string }

/**
 * A task to claim, and a random UUID that identifies the claim.
 * - `origin`: claim the task only if it calls this origin, for which the caller has a slot. Default: any.
 * - `isPrefetch`: no slot is free yet, so the attempt needs an entry in the send journal before it starts. Default: false.
 * - `isQueued`: the task may have a queue with a limit, so the claim also checks the queue. Such a claim may wait for
 *   other claims of the queue, and is never prefetched. Default: false.
 */
export type ClaimRequest = {
  taskId: string
  token: string
  origin?: string
  isPrefetch?: boolean
  isQueued?: boolean
}

/** The dispatcher's block of executions does not cover the task. Nothing has changed; `claimWithTopUp` claims it. */
export type ShortClaim = { kind: 'short'; organizationId: string }

/** Returns a list of the fields of a request in a claim. */
export const listed = (write: (field: string, column: string) => string) =>
  Object.entries(requestFields)
    .map(([field, column]) => write(field, column))
    .join(', ')
// A trigger stores the callbacks, so an attempt does not need them.
const { callbacks: _callbacks, queue: _queue, contentType, ...sentColumns } = namesOf(usualColumns)
const requestFields = Object.assign({}, sentColumns, { rare: 'rare' })

// Each column of a row costs the client as much as its value, and few tasks have one of these.
const rareColumns = {
  contentType: `r.${contentType}`,
  retryDelays: 'r.retry_delays',
  qstash: 'r.qstash',
  connection: 'r.connection',
  topic: 'r.topic',
  traceparent: 'r.traceparent',
  depth: 'r.depth',
  subscriptionId: 'r.subscription_id',
  isReport: 'r.is_report',
  cronJobId: 't.cron_job_id',
  expiresAt: 'extract(epoch FROM t.expires_at)::float8 * 1000',
}
const rare = `
             CASE WHEN num_nonnulls(${Object.values(rareColumns).join(', ')}) > 0 THEN json_build_object(
               ${Object.entries(rareColumns)
                 .map(([field, column]) => `'${field}', ${column}`)
                 .join(', ')})::text END AS rare`
/** SQL: these fields of a task `t` and its request `r`. */
export const requestColumns = `${Object.entries(sentColumns)
  .map(([field, column]) => `r.${column} AS "${field}"`)
  .join(', ')},${rare}`

type Rare = Partial<Pick<ClaimedTask, keyof typeof rareColumns>>

/** A task as a claim returns it. */
export type ClaimedRow = Omit<ClaimedTask, keyof Rare | 'executeAt' | 'claimedAt'> & {
  /** Null: when it was scheduled. */
  executeAt: Date | null
  /** `Rare` as JSON text. */
  rare: string | null
  refusal: string | null
  organizationId: string | null
}

const nothingRare: Rare = {}

export function toClaim(row: ClaimedRow): Claim | ShortClaim {
  const { refusal, organizationId, queueId } = row
  if (organizationId !== null) return { kind: 'short', organizationId }
  if (refusal === 'blocked' && queueId !== null) return { kind: 'blocked', queueId }
  if (refusal !== null) return { kind: 'gone', refusal }
  const rare: Rare = row.rare === null ? nothingRare : JSON.parse(row.rare)
  const task: ClaimedTask = {
    taskId: row.taskId,
    workspaceId: row.workspaceId,
    runId: row.runId,
    attempt: row.attempt,
    lost: row.lost,
    prefetched: row.prefetched,
    queueId,
    scheduledAt: row.scheduledAt,
    executeAt: row.executeAt ?? row.scheduledAt,
    // The id of a run begins with the time of its claim.
    claimedAt: new Date(timeOfUuid(row.runId)),
    url: row.url,
    method: row.method,
    headers: row.headers,
    payload: row.payload,
    maxRetries: row.maxRetries,
    backoff: row.backoff,
    baseDelayMs: row.baseDelayMs,
    maxDelayMs: row.maxDelayMs,
    timeoutMs: row.timeoutMs,
    contentType: rare.contentType ?? null,
    retryDelays: rare.retryDelays ?? null,
    qstash: rare.qstash ?? null,
    connection: rare.connection ?? null,
    topic: rare.topic ?? null,
    traceparent: rare.traceparent ?? null,
    depth: rare.depth ?? null,
    subscriptionId: rare.subscriptionId ?? null,
    isReport: rare.isReport ?? null,
    cronJobId: rare.cronJobId ?? null,
    expiresAt: rare.expiresAt ?? null,
  }
  return { kind: 'claimed', task, receivedAt: performance.now() }
}
