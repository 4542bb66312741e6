import { randomUUID } from 'node:crypto'
import { newUuid } from '@belfry/domain/id'
import type { Pool } from '../../src/postgres/pool.ts'
import { type InputColumn, inputRows, inputValues } from '../../src/postgres/statement-input.ts'
import { type Callbacks, storedCallbacks } from './callbacks.ts'
import { lowered } from './floor-steps.ts'
import type { EndSituation, QueueSituation, Situation } from './reached.ts'
import { theRules } from './rules.ts'
import { cron, isFinished, type Row, stranger } from './state.ts'

/** A row of the model in PostgreSQL, with the ids that it got there. */
export type StoredRow = Situation & {
  taskId: string
  workspaceId: string
  cronJobId: string | null
  /** Null without a queue. */
  queueId: string | null
  /** The run that the row's claim has, or had. */
  runId: string
  /** The ids of A, B, Q and the stranger. */
  dispatchers: readonly string[]
}

/** The columns that the model has, and the callbacks that the row has stored. */
export type Projection = Omit<
  Row,
  'sent' | 'mayNotStart' | 'startedSinceBackup' | 'expiredSinceBackup' | 'missingCallbacks'
> &
  Callbacks

/** Lets the trigger that lowers the floor record its task instead, because each row has a floor of its own in the model. */
export async function recordLowered(pool: Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE lowered (id uuid NOT NULL);
    CREATE OR REPLACE FUNCTION lower_waiting_floor() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO lowered VALUES (NEW.id); RETURN NULL; END $$`)
}

/** Stores the row of each situation as a task of a workspace of its own. */
export async function storeSituations(
  pool: Pool,
  situations: readonly Situation[],
  dispatchers: readonly string[],
): Promise<StoredRow[]> {
  const stored = situations.map(situation => placed(situation, dispatchers))
  await insertAll(pool, workspacesStatement, workspaceInput, stored)
  await insertAll(pool, cronJobsStatement, cronJobInput, stored.filter(hasCronJob))
  await storeRows(pool, stored)
  return stored
}

/** Stores the rows before the ends of processes. Returns the id of each process, and its rows in order of the tasks. */
export async function storeEnds(pool: Pool, ends: readonly EndSituation[]): Promise<StoredEnd[]> {
  const stored = ends.map(end => {
    const dispatchers = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    const rows = end.rows.map((row, task) => row && placed({ ...asActive, task, row }, dispatchers))
    return { end, id: dispatchers[end.who] as string, rows }
  })
  const rows = stored.flatMap(end => end.rows.filter(row => row !== null))
  await insertAll(pool, workspacesStatement, workspaceInput, rows)
  await storeRows(pool, rows)
  const ids = stored.filter(({ end }) => end.hasJournal).map(({ id }) => id)
  await pool.query('INSERT INTO dispatchers (id, session) SELECT id, gen_random_uuid() FROM unnest($1::uuid[]) AS id', [
    ids,
  ])
  return stored
}

/** Stores the rows of each queue in a workspace of its own. */
export async function storeQueues(
  pool: Pool,
  situations: readonly QueueSituation[],
  dispatchers: readonly string[],
): Promise<StoredSituation[]> {
  const stored = situations.map(situation => {
    const [queueId, workspaceId] = [randomUUID(), randomUUID()]
    const executions = situation.rows[0].executions + situation.rows[1].executions
    // The run of a task that has not started in the current period is older.
    const runId = (task: number) => newUuid(Date.now() - (task === situation.queue.startedBy ? 0 : 3_600_000))
    const rows = situation.rows.flatMap((row, task) => {
      const ids = { queueId, workspaceId, runId: runId(task) }
      return row.state === 'none' ? [] : [{ ...placed({ ...asActive, task, row }, dispatchers), ...ids }]
    })
    return { situation, queueId, workspaceId, executions, rows }
  })
  const first = stored.flatMap(({ rows: [row], executions }) =>
    row ? [{ ...row, row: { ...row.row, executions } }] : [],
  )
  await insertAll(pool, workspacesStatement, workspaceInput, first)
  await insertAll(pool, queuesStatement, queueInput, stored)
  const rows = stored.flatMap(each => each.rows)
  await insertAll(pool, cronJobsStatement, cronJobInput, rows.filter(hasCronJob))
  await storeRows(pool, rows)
  return stored
}

/** A queue in PostgreSQL, with its rows in order of the tasks, and the executions of both. */
export type StoredSituation = {
  situation: QueueSituation
  queueId: string
  workspaceId: string
  executions: number
  rows: StoredRow[]
}

export type StoredEnd = { end: EndSituation; id: string; rows: Array<StoredRow | null> }

const asActive = { cronJob: 'active', workspace: 'exists' } as const

function placed(situation: Situation, dispatchers: readonly string[]): StoredRow {
  const cronJobId = situation.task === cron ? newUuid() : null
  const ids = { cronJobId, queueId: null, taskId: newUuid(), workspaceId: randomUUID(), runId: newUuid() }
  return { ...situation, dispatchers, ...ids }
}

function hasCronJob({ cronJobId, cronJob }: StoredRow): boolean {
  return cronJobId !== null && cronJob !== 'deleted'
}

async function storeRows(pool: Pool, rows: readonly StoredRow[]): Promise<void> {
  await insertAll(pool, tasksStatement, taskInput, rows)
  const runs = rows.flatMap(stored => attemptsIn(stored.row.runs).map(attempt => ({ stored, attempt })))
  await insertAll(pool, runsStatement, runInput, runs)
  await pool.query('TRUNCATE lowered')
}

async function insertAll<Item>(
  pool: Pool,
  statement: string,
  input: ReadonlyArray<InputColumn<Item>>,
  items: readonly Item[],
): Promise<void> {
  await pool.query(statement, inputValues(input, items))
}

const workspaceInput: ReadonlyArray<InputColumn<StoredRow>> = [
  ['id', 'uuid', ({ workspaceId }) => workspaceId],
  ['is_deleted', 'bool', ({ workspace }) => workspace === 'deleted'],
  ['executions', 'int4', ({ row }) => row.executions],
]
const workspacesStatement = `
  WITH input AS (${inputRows(workspaceInput)}),
  organization AS (INSERT INTO organizations (id, name, slug, tier) SELECT id, 'A', id::text, 'free' FROM input),
  charged AS (INSERT INTO usage_changes (workspace_id, executions) SELECT id, executions FROM input)
  INSERT INTO workspaces (id, organization_id, name, deleted_at)
  SELECT id, id, 'A', CASE WHEN is_deleted THEN now() END FROM input`

const queueInput: ReadonlyArray<InputColumn<StoredSituation>> = [
  ['id', 'uuid', ({ queueId }) => queueId],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['limited', 'text', ({ situation }) => situation.queue.limit],
  ['is_paused', 'bool', ({ situation }) => situation.queue.isPaused],
  [
    'started_by',
    'uuid',
    ({ situation, rows }) => rows.find(({ task }) => task === situation.queue.startedBy)?.runId ?? null,
  ],
]
const queuesStatement = `
  WITH input AS (${inputRows(queueInput)}),
  started AS (
    INSERT INTO queue_starts (queue_id, at, starts) SELECT id, uuid_v7_time(started_by), 1 FROM input WHERE started_by IS NOT NULL
  )
  INSERT INTO queues (id, workspace_id, name, max_concurrent, rate_count, rate_period_ms, ordered, paused_at)
  SELECT id, workspace_id, 'A', CASE limited WHEN 'one at a time' THEN 1 END,
         CASE limited WHEN 'one in a period' THEN 1 END, CASE limited WHEN 'one in a period' THEN 3600000 END,
         limited = 'ordered', CASE WHEN is_paused THEN now() END
  FROM input`

const cronJobInput: ReadonlyArray<InputColumn<StoredRow>> = [
  ['id', 'uuid', ({ cronJobId }) => cronJobId],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['is_paused', 'bool', ({ cronJob }) => cronJob === 'paused'],
  ['was_paused', 'bool', ({ row }) => row.mayNotStart],
]
const cronJobsStatement = `
  INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, paused_at, void_before, url, method,
                         max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
  SELECT id, workspace_id, 'A', '0 0 1 1 *', 'UTC', 'allow', 'latest', CASE WHEN is_paused THEN now() END,
         CASE WHEN was_paused THEN now() END,
         'https://example.com/hook', 'POST', 1, 'fixed', 1000, 1000, 5000
  FROM (${inputRows(cronJobInput)}) input`

// One callback for each kind of outcome.
const retry = { max_retries: 1, backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 }
const callback = { url: 'https://example.com/callback', headers: {}, retry, timeout_ms: 5_000 }
const callbacks = JSON.stringify({ on_attempt: callback, on_success: callback, on_failure: callback })

const taskInput: ReadonlyArray<InputColumn<StoredRow>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['workspace_id', 'uuid', ({ workspaceId }) => workspaceId],
  ['cron_job_id', 'uuid', ({ cronJobId }) => cronJobId],
  ['queue_id', 'uuid', ({ queueId }) => queueId],
  ['task', 'int4', ({ task }) => task],
  ['state', 'task_state', ({ row }) => stateOf(row)],
  ['due', 'text', ({ row }) => row.due],
  ['age', 'text', ({ row }) => row.age],
  ['attempts', 'int2', ({ row }) => row.attempts],
  ['run_id', 'uuid', ({ row, runId }) => (row.by !== null ? runId : row.attempts > 0 ? newUuid() : null)],
  ['owner', 'uuid', ({ row, dispatchers }) => (row.state === 'processing' ? dispatchers[row.by ?? stranger] : null)],
  ['prefetched', 'text', ({ row }) => row.prefetched],
  ['deadline', 'text', ({ row }) => row.deadline],
  ['reason', 'text', ({ row }) => row.reason],
  ['quarantined', 'bool', ({ row }) => row.quarantined],
  ['lost', 'int2', ({ row }) => row.lost],
  ['lost_alone', 'int2', ({ row }) => row.lostAlone],
  ['is_finished', 'bool', ({ row }) => isFinished(row)],
]
const tasksStatement = `
  WITH input AS (${inputRows(taskInput)}),
  task AS (
    INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, lease_until, dispatcher_id,
                       prefetched, quarantined, lost, lost_alone, cron_job_id, occurrence_at, created_at, finished_at,
                       expires_at, state_reason, queue_id, has_callbacks, waits_for)
    SELECT id, workspace_id, CASE WHEN cron_job_id IS NULL THEN 'task' ELSE 'cron' END::task_source, state, attempts,
           now() - interval '1 minute' + task * interval '1 second',
           CASE WHEN state <> 'processing' AND due = 'later' THEN now() + interval '1 hour'
                ELSE now() - CASE age WHEN 'recent' THEN interval '1 minute' ELSE interval '50 minutes' END END,
           run_id, CASE WHEN state = 'processing' THEN now() + interval '1 minute' END,
           owner, prefetched <> 'no', quarantined, lost, lost_alone, cron_job_id,
           CASE WHEN cron_job_id IS NOT NULL THEN now() - interval '1 minute' END, now() - interval '1 hour',
           CASE WHEN is_finished THEN now() END,
           CASE deadline WHEN 'ahead' THEN now() + interval '2 hours' WHEN 'passed' THEN now() - interval '1 second' END,
           reason, queue_id, true, CASE due WHEN 'blocked' THEN 1 WHEN 'held' THEN 2 ELSE 0 END
    FROM input
  ),
  sent AS (
    INSERT INTO sends (dispatcher_id, seq, run_ids) SELECT owner, 1, ARRAY[run_id] FROM input WHERE prefetched = 'journaled'
  )
  INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms,
                             callbacks)
  SELECT id, 'A', 'https://example.com/hook', 'POST', 1, 'fixed', 1000, 1000, 5000, '${callbacks}' FROM input`

function stateOf({ state }: Row): Exclude<Row['state'], 'none'> {
  if (state === 'none') throw new Error('PostgreSQL has no row for it.')
  return state
}

type StoredRun = { stored: StoredRow; attempt: number }

const runInput: ReadonlyArray<InputColumn<StoredRun>> = [
  ['id', 'uuid', ({ stored, attempt }) => (isOfClaim(stored.row, attempt) ? stored.runId : newUuid())],
  ['workspace_id', 'uuid', ({ stored }) => stored.workspaceId],
  ['task_id', 'uuid', ({ stored }) => stored.taskId],
  ['attempt', 'int2', ({ attempt }) => attempt],
]
const runsStatement = `
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, error_code)
  SELECT id, workspace_id, task_id, attempt, 'task', 'failed', now(), now(), now(), 'worker_lost'
  FROM (${inputRows(runInput)}) input`

function isOfClaim(row: Row, attempt: number): boolean {
  return attempt === row.attempts && row.by !== null
}

function attemptsIn(mask: number): number[] {
  return [1, 2, 3, 4, 5].filter(attempt => (mask & (1 << attempt)) !== 0)
}

type Read = {
  id: string
  state: Row['state']
  due: Row['due']
  is_old: boolean
  is_lowered: boolean
  attempts: number
  run_id: string | null
  dispatcher_id: string | null
  prefetched: Row['prefetched']
  deadline: Row['deadline']
  reason: Row['reason']
  quarantined: boolean
  lost: number
  lost_alone: number
  executions: number
  runs: number[]
  callbacks: string[]
}

/** Reads rows back. `since`: the start of the statement; tasks due after it count as `later`. */
export async function project(pool: Pool, stored: readonly StoredRow[], since: Date): Promise<Projection[]> {
  const text = `
    SELECT t.id, t.state, t.attempts, t.run_id, t.dispatcher_id, t.quarantined, t.lost, t.lost_alone,
           CASE WHEN t.finished_at IS NOT NULL THEN 'due'
                WHEN t.waits_for = 2 THEN 'held' WHEN t.waits_for = 1 THEN 'blocked'
                WHEN t.state IN ('pending', 'retrying') AND t.due_at > $2 THEN 'later' ELSE 'due' END AS due,
           t.finished_at IS NULL AND t.due_at < now() - interval '30 minutes' AS is_old,
           EXISTS (SELECT FROM lowered l WHERE l.id = t.id) AS is_lowered,
           CASE WHEN NOT t.prefetched THEN 'no'
                WHEN EXISTS (SELECT FROM sends s WHERE s.dispatcher_id = t.dispatcher_id AND t.run_id = ANY (s.run_ids)) THEN 'journaled'
                ELSE 'unsent' END AS prefetched,
           CASE WHEN t.finished_at IS NOT NULL OR t.expires_at IS NULL THEN 'none'
                WHEN t.expires_at > now() THEN 'ahead' ELSE 'passed' END AS deadline,
           CASE WHEN t.state = 'dead' THEN t.state_reason END AS reason,
           (SELECT coalesce(sum(executions), 0)::int FROM usage_changes u WHERE u.workspace_id = t.workspace_id) AS executions,
           ARRAY (SELECT attempt::int FROM runs r WHERE r.task_id = t.id) AS runs,
           ARRAY (SELECT split_part(r.name, ' ', 1) FROM tasks c JOIN task_requests r ON r.task_id = c.id
                  WHERE c.callback_of = t.id AND c.source = 'callback' AND NOT c.has_callbacks) AS callbacks
    FROM tasks t WHERE t.id = ANY ($1::uuid[])`
  const { rows } = await pool.query<Read>(text, [stored.map(({ taskId }) => taskId), since])
  const byId = new Map(rows.map(row => [row.id, row]))
  return stored.map(one => projected(one, byId.get(one.taskId) as Read))
}

function projected({ row, runId, dispatchers }: StoredRow, read: Read): Projection {
  const by =
    read.state === 'processing' ? dispatchers.indexOf(read.dispatcher_id ?? '') : read.run_id === runId ? row.by : null
  return {
    state: read.state,
    due: read.due,
    age: !read.is_old ? 'recent' : row.age === 'below the floor' && !read.is_lowered ? 'below the floor' : 'old',
    attempts: read.attempts,
    by,
    prefetched: read.prefetched,
    deadline: read.deadline,
    reason: read.reason,
    quarantined: read.quarantined,
    lost: read.lost,
    lostAlone: read.lost_alone,
    executions: read.executions,
    runs: read.runs.reduce((mask, attempt) => mask | (1 << attempt), 0),
    onAttempt: countOf('on_attempt', read.callbacks),
    onSuccess: countOf('on_success', read.callbacks),
    onFailure: countOf('on_failure', read.callbacks),
  }
}

function countOf(event: string, callbacks: readonly string[]): number {
  return callbacks.filter(name => name === event).length
}

/** The row and the callbacks that the model expects after a statement. */
export function expectedAfter(before: Row, after: Row): Projection {
  return { ...expected(lowered(theRules, before, after)), ...storedCallbacks(theRules, before, after) }
}

/** The row that the model expects. The due time and the deadline of an ended task are irrelevant. */
export function expected(row: Row): Omit<Projection, keyof Callbacks> {
  const {
    sent: _,
    mayNotStart: __,
    startedSinceBackup: ___,
    expiredSinceBackup: ____,
    missingCallbacks: _____,
    ...stored
  } = row
  return isFinished(row) ? { ...stored, due: 'due', age: 'recent', deadline: 'none' } : stored
}
