import type { CronJobRecord } from '../fixture/api-operations.ts'
import { readDatabaseClock, toDatabaseTime } from '../fixture/database-clock.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type {
  AcceptedTask,
  CronJobHistory,
  History,
  KeyedCreations,
  LimitedOrganization,
  Move,
  StoredOperation,
  StoredQueue,
  StoredRun,
  StoredTask,
  WorkspaceStop,
} from './history.ts'

type ToDatabase = (monotonic: number) => number

/** Reads all three sources of a fixture. */
export async function readHistory(fixture: Fixture): Promise<History> {
  const { offset, now } = await readDatabaseClock(fixture.sql)
  const toDatabase = toDatabaseTime(fixture.clockReadings, offset)
  const ms = (column: string) => `extract(epoch FROM ${column})::float8 * 1000`
  const tasks = await fixture.sql<StoredTask>(
    `SELECT t.id, t.queue_id AS "queueId", t.workspace_id AS "workspaceId", t.replay_of AS "replayOf", w.organization_id AS "organizationId", r.name, t.state, t.state_reason AS "stateReason", t.attempts,
            r.max_retries AS "maxRetries", ${ms('t.created_at')} AS "createdAt", ${ms('t.execute_at')} AS "executeAt",
            ${ms('t.due_at')} AS "dueAt", t.waits_for = 1 AS "isBlocked", t.cron_job_id AS "cronJobId", ${ms('t.occurrence_at')} AS "occurrenceAt",
            ${ms('t.expires_at')} AS "expiresAt",
            t.callback_of AS "callbackOf",
            ARRAY(SELECT json_object_keys(coalesce(r.callbacks, '{}')::json)) AS callbacks
     FROM tasks t JOIN task_requests r ON r.task_id = t.id LEFT JOIN workspaces w ON w.id = t.workspace_id`,
  )
  const runs = await fixture.sql<StoredRun>(
    `SELECT id, task_id AS "taskId", attempt, status, ${ms('scheduled_at')} AS "scheduledAt", ${ms('started_at')} AS "startedAt",
            ${ms('finished_at')} AS "finishedAt", response_status AS "responseStatus", error_code AS "errorCode"
     FROM runs ORDER BY task_id, attempt`,
  )
  const moves = await fixture.sql<Move>(
    `SELECT id::int, task_id AS "taskId", from_state AS from, to_state AS to, attempts, run_id AS "runId",
            was_quarantined AS "wasQuarantined", was_held AS "wasHeld", ${ms('at')} AS at,
            transaction::text::float8 AS transaction, pg_snapshot_xmax(seen)::text::float8 AS "seesBelow",
            ARRAY(SELECT pg_snapshot_xip(seen)::text::float8) AS "seesNot"
     FROM fixture.transitions ORDER BY id`,
  )
  const operations = await fixture.sql<StoredOperation>(
    `SELECT id, workspace_id AS "workspaceId", action, json_strip_nulls(filter::json)::text = '{}' AS "isWhole", done,
            ${ms('created_at')} AS "createdAt", ${ms('finished_at')} AS "finishedAt" FROM bulk_operations`,
  )
  return {
    accepted: acceptedTasks(fixture, toDatabase),
    cancelled: fixture.cancels.flatMap(({ id, status }) => (status === 200 || status === 204 ? [uuidOf(id)] : [])),
    stopped: fixture.stops.flatMap(({ id, status }) => (status === 200 ? [uuidOf(id)] : [])),
    unclear: [...fixture.cancels, ...fixture.stops].flatMap(({ id, status }) =>
      status === 'broken' || status >= 500 ? [uuidOf(id)] : [],
    ),
    keys: keyedCreations(fixture),
    cronJobs: fixture.cronJobs.flatMap(job => cronJobHistory(job, toDatabase)),
    workspaceStops: workspaceStops(fixture, toDatabase),
    operations,
    organizations: await limitedOrganizations(fixture),
    queues: await storedQueues(fixture, toDatabase),
    hits: fixture.target
      .hits(toDatabase)
      .map(hit => ({ ...hit, taskId: uuidOf(hit.taskId), runId: uuidOf(hit.runId) })),
    tasks,
    runs,
    moves,
    charges: fixture.charges.list,
    calm: null,
    circuitsOpenMs: 0,
    commitsPerSecond: null,
    now,
  }
}

function acceptedTasks({ creates, changes }: Fixture, toDatabase: ToDatabase): AcceptedTask[] {
  const accepted = new Map<string, AcceptedTask>()
  for (const { id, executeAt, path, answeredAt } of creates)
    if (id !== null && !accepted.has(id)) {
      const task = { id: uuidOf(id), answeredAt: toDatabase(answeredAt), executeAt: [executeAt], paths: [path] }
      accepted.set(id, task)
    }
  for (const { id, status, path, executeAt } of changes) {
    const task = accepted.get(id)
    // Certainly refused: it has started, or does not exist.
    if (!task || (status !== 'broken' && status >= 400 && status <= 499)) continue
    const isDone = status === 200
    task.paths = [...(isDone ? [] : task.paths), path]
    if (executeAt !== null) task.executeAt = [...(isDone ? [] : task.executeAt), executeAt]
  }
  return [...accepted.values()]
}

function keyedCreations({ creates }: Fixture): KeyedCreations[] {
  const byKey = new Map<string, KeyedCreations>()
  for (const { key, path, id } of creates) {
    if (key === null) continue
    const known = byKey.get(key) ?? { key, path, answered: [] }
    if (id !== null) known.answered.push(uuidOf(id))
    byKey.set(key, known)
  }
  return [...byKey.values()]
}

function cronJobHistory({ id, catchUp, operations }: CronJobRecord, toDatabase: ToDatabase): CronJobHistory[] {
  if (id === null) return []
  const converted = operations.map(operation => ({
    ...operation,
    sentAt: toDatabase(operation.sentAt),
    answeredAt: toDatabase(operation.answeredAt),
  }))
  return [{ id: uuidOf(id), catchUp, operations: converted }]
}

function workspaceStops({ workspaceOperations }: Fixture, toDatabase: ToDatabase): WorkspaceStop[] {
  return workspaceOperations.flatMap(({ workspaceId, kind, answeredAt, status }) => {
    if (kind === 'resumption' || status !== 204) return []
    const resumed = workspaceOperations.find(
      other => other.workspaceId === workspaceId && other.kind === 'resumption' && other.sentAt > answeredAt,
    )
    const until = resumed ? toDatabase(resumed.sentAt) : Number.POSITIVE_INFINITY
    return [{ workspaceId: uuidOf(workspaceId), kind, from: toDatabase(answeredAt), until }]
  })
}

async function storedQueues({ sql, queueOperations }: Fixture, toDatabase: ToDatabase): Promise<StoredQueue[]> {
  const queues = await sql<Omit<StoredQueue, 'pauses'>>(
    `SELECT id, name, max_concurrent AS "maxConcurrent", rate_count AS "rateCount", rate_period_ms AS "ratePeriodMs", ordered
     FROM queues`,
  )
  return queues.map(queue => {
    const own = queueOperations.filter(({ name }) => name === queue.name)
    const pauses = own.flatMap(({ kind, answeredAt, status }) => {
      if (kind !== 'pause' || status !== 200) return []
      const resume = own.find(other => other.kind === 'resume' && other.sentAt > answeredAt)
      return [{ from: toDatabase(answeredAt), until: resume ? toDatabase(resume.sentAt) : Number.POSITIVE_INFINITY }]
    })
    return { ...queue, pauses }
  })
}

async function limitedOrganizations(fixture: Fixture): Promise<LimitedOrganization[]> {
  const id = fixture.callers[2]?.organizationId
  if (fixture.executionLimit === null || !id) return []
  const counted = await fixture.usedExecutions(2)
  return [{ id: uuidOf(id), limit: fixture.executionLimit, counted: counted ?? Number.NaN }]
}
