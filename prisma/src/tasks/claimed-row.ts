import { timeOfUuid } from '@belfry/domain/id'
import type { TaskRequest } from '../generated/client.ts'
import type { StoredRequest } from './stored-request.ts'

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

// Each column of a row costs the client as much as its value. So the short values of a request are one text, of which
// there are few, and what few tasks have is JSON.

const ms = (time: string) => `round(date_part('epoch', ${time}) * 1000)`

const rareColumns = {
  contentType: 'r.content_type',
  retryDelays: 'r.retry_delays',
  qstash: 'r.qstash',
  connection: 'r.connection',
  topic: 'r.topic',
  traceparent: 'r.traceparent',
  depth: 'r.depth',
  subscriptionId: 'r.subscription_id',
  isReport: 'r.is_report',
  cronJobId: 't.cron_job_id',
  expiresAt: ms('t.expires_at'),
}

/** SQL: the request of a claimed task `t` in `r`. */
export const requestColumns = `r.url, r.headers, r.payload,
             concat_ws(' ', r.method, r.max_retries, r.backoff, r.base_delay_ms, r.max_delay_ms, r.timeout_ms) AS policy,
             CASE WHEN num_nonnulls(${Object.values(rareColumns).join(', ')}) > 0 THEN ${jsonOf(rareColumns)} END AS rare`

/** Returns the SQL of an object with some members, as JSON text. */
function jsonOf(members: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(members).map(([name, value]) => `'${name}', ${value}`)
  return `json_build_object(${pairs.join(', ')})::text`
}

/** SQL of a claim: the columns in which the rows of its two statements differ. */
type ClaimTexts = { dueAt: string; queueId: string; refusal: string }

/**
 * Returns the SQL of the row of a task that a claim has locked.
 * @param of - What precedes the names of its other columns.
 */
export function claimedRow(of: string, { dueAt, queueId, refusal }: ClaimTexts): string {
  const special = jsonOf({ executeAt: ms(`${of}execute_at`), lost: `${of}lost`, queueId, refusal })
  return `${of}id AS "taskId", ${of}workspace_id AS "workspaceId", ${of}run_id AS "runId", ${of}attempts AS attempt, ${ms(dueAt)} AS "dueAt",
           CASE WHEN ${of}execute_at <> ${dueAt} OR ${of}lost > 0 OR num_nonnulls(${queueId}, ${refusal}) > 0 THEN ${special} END AS special`
}

/** Returns the SQL of the row of a task that a claim has not changed. */
export function unclaimedRow(special: Readonly<Record<string, string>>): string {
  return `id, NULL, NULL, NULL, NULL, ${jsonOf(special)}, NULL, NULL, NULL, NULL, NULL`
}

/** SQL: the names of `requestColumns`, in their order. */
export const requestNames = 'url, headers, payload, policy, rare'

type Rare = Partial<Pick<ClaimedTask, keyof typeof rareColumns>>

type Special = {
  executeAt?: number
  lost?: number
  queueId?: string | null
  refusal?: string | null
  organizationId?: string
}

export type ClaimedRow = Pick<
  ClaimedTask,
  'taskId' | 'workspaceId' | 'runId' | 'attempt' | 'url' | 'headers' | 'payload'
> & {
  /** Epoch milliseconds. */
  dueAt: number
  policy: string
  /** `Special` as JSON text; null for most tasks. */
  special: string | null
  /** `Rare` as JSON text; null for most tasks. */
  rare: string | null
}

const nothingRare: Rare = {}
const nothingSpecial: Special = {}

/** @param isPrefetched - Whether the attempt needs an entry in the send journal. */
export function toClaim(row: ClaimedRow, isPrefetched: boolean): Claim | ShortClaim {
  const special = specialOf(row)
  const { organizationId, refusal, queueId = null } = special
  if (organizationId !== undefined) return { kind: 'short', organizationId }
  if (refusal === 'blocked' && queueId !== null) return { kind: 'blocked', queueId }
  if (refusal != null) return { kind: 'gone', refusal }
  const rare: Rare = row.rare === null ? nothingRare : JSON.parse(row.rare)
  const policy = policyOf(row.policy)
  const scheduledAt = new Date(row.dueAt)
  const task: ClaimedTask = {
    taskId: row.taskId,
    workspaceId: row.workspaceId,
    runId: row.runId,
    attempt: row.attempt,
    lost: special.lost ?? 0,
    prefetched: isPrefetched,
    queueId,
    scheduledAt,
    executeAt: special.executeAt === undefined ? scheduledAt : new Date(special.executeAt),
    // The id of a run begins with the time of its claim.
    claimedAt: new Date(timeOfUuid(row.runId)),
    url: row.url,
    method: policy.method,
    headers: row.headers,
    payload: row.payload,
    maxRetries: policy.maxRetries,
    backoff: policy.backoff,
    baseDelayMs: policy.baseDelayMs,
    maxDelayMs: policy.maxDelayMs,
    timeoutMs: policy.timeoutMs,
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

/** What few claims say of a task. */
export function specialOf({ special }: Pick<ClaimedRow, 'special'>): Special {
  return special === null ? nothingSpecial : JSON.parse(special)
}

type Policy = Pick<ClaimedTask, 'method' | 'maxRetries' | 'backoff' | 'baseDelayMs' | 'maxDelayMs' | 'timeoutMs'>

let latest: { text: string; policy: Policy } | null = null

// The tasks of a batch mostly have the same.
function policyOf(text: string): Policy {
  if (latest?.text === text) return latest.policy
  const [method = '', retries, backoff, base, max, timeout] = text.split(' ')
  const policy: Policy = {
    method,
    maxRetries: Number(retries),
    backoff: backoff as Policy['backoff'], // the text of its enumeration
    baseDelayMs: Number(base),
    maxDelayMs: Number(max),
    timeoutMs: Number(timeout),
  }
  latest = { text, policy }
  return policy
}
