import { randomUUID } from 'node:crypto'
import {
  backfillRunStatistics,
  busiestQueues,
  type ClaimedTask,
  claimTasks,
  deleteOldRuns,
  expandCronJobs,
  expireTasks,
  findStuckWork,
  foldRunChanges,
  foldUsageChanges,
  insertTasks,
  measureBacklog,
  mendWaitingFloor,
  type NewTask,
  openLateSearch,
  type Pool,
  raiseWaitingFloor,
  readTenantShares,
  readUsage,
  recordAttempts,
  recordQuotaCrossings,
  returnUnspentBlocks,
  startTaskOperation,
  stepTaskOperation,
  withPromotion,
  workspacesToPurge,
  workspacesToWindDown,
  workspacesWithTasks,
} from '@belfry/db'
import { defaultTiers } from '@belfry/domain'
import { newTasks, taskOf, toSuccess } from '../lab/attempts.ts'
import { readCpu } from '../measure/cpu-time.ts'

/** What one operation took in one round. */
export type StatementSample = {
  /** CPU microseconds of the backend for each task, run or call. */
  cpuUs: number
  /** Elapsed milliseconds of the slowest call. */
  maxMs: number
}

const batch = 50
const batches = 40
const size = { batches, batch }
const dispatcherId = randomUUID()
const minuteMs = 60_000
const yearMs = 365 * 24 * 60 * minuteMs

/** The statements that are measured, and the chores of the scheduler. */
export type Operation =
  | 'create'
  | 'createApart'
  | 'claim'
  | 'record'
  | 'promote'
  | 'cancelStart'
  | 'cancel'
  | 'retention'
  | 'storage'
  | 'usage'
  | (typeof choreNames)[number]

const choreNames = [
  'raiseWaitingFloor',
  'mendWaitingFloor',
  'measureBacklog',
  'findStuckWork',
  'readTenantShares',
  'busiestQueues',
  'recordQuotaCrossings',
  'returnUnspentBlocks',
  'expandCronJobs',
  'expireTasks',
  'searchLate',
  'foldRunChanges',
  'backfillRunStatistics',
  'workspacesToPurge',
  'workspacesToWindDown',
  'workspacesWithTasks',
] as const

/**
 * Runs every statement of the engine on some workspaces, each on the rows that the one before has left.
 * @param pool - A pool with a single connection, whose backend's CPU is read.
 */
export async function measureStatements(
  pool: Pool,
  workspaceIds: readonly string[],
): Promise<Record<Operation, StatementSample>> {
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const meter = openMeter(rows[0]?.pid ?? 0)
  await measureTasks(pool, workspaceIds, meter.measure)
  await measureLog(pool, workspaceIds[0] ?? '', meter.measure)
  for (const name of choreNames) {
    const call = async () => {
      await chores[name](pool)
      return 1
    }
    await meter.measure(name, times(3, call))
  }
  return meter.samples as Record<Operation, StatementSample> // each was measured above
}

/** Each call returns how many things it handled. */
type Measure = (name: Operation, calls: ReadonlyArray<() => Promise<number>>) => Promise<void>

function openMeter(pid: number) {
  const groups = { backend: [pid] }
  const samples: Partial<Record<Operation, StatementSample>> = {}
  const measure: Measure = async (name, calls) => {
    const before = readCpu(groups)
    let count = 0
    let maxMs = 0
    for (const call of calls) {
      const began = performance.now()
      count += await call()
      maxMs = Math.max(maxMs, performance.now() - began)
    }
    const cpuUs = (readCpu(groups).backend ?? 0) - (before.backend ?? 0)
    if (count === 0) throw new Error(`${name} found nothing to do.`)
    samples[name] = { cpuUs: cpuUs / count, maxMs }
  }
  return { samples, measure }
}

async function measureTasks(pool: Pool, workspaceIds: readonly string[], measure: Measure): Promise<void> {
  const insert = (batches: NewTask[][]) => batches.map(tasks => async () => (await insertTasks(pool, tasks)).length)
  const withinAnHour = () => new Date(Date.now() + (60 + Math.random() * 60) * minuteMs)
  await measure('create', insert(newTasks(workspaceIds, withinAnHour, size)))
  const withinAYear = () => new Date(Date.now() + 120 * minuteMs + Math.random() * yearMs)
  await measure('createApart', insert(newTasks(workspaceIds, withinAYear, size)))

  const now = newTasks(workspaceIds, () => null, size)
  for (const tasks of now) await insertTasks(pool, tasks)
  const claimed: ClaimedTask[][] = []
  const claims = now.map(tasks => async () => {
    const requests = tasks.map(({ id }) => ({ taskId: id, token: randomUUID() }))
    const attempts = (await claimTasks(pool, { dispatcherId }, requests)).flatMap(taskOf)
    if (attempts.length !== batch) throw new Error(`${attempts.length} of ${batch} tasks were claimed.`)
    claimed.push(attempts)
    return attempts.length
  })
  await measure('claim', claims)
  const records = claimed.map(tasks => async () => {
    return (await recordAttempts(pool, tasks.map(toSuccess))).filter(each => each !== null).length
  })
  await measure('record', records)

  const from = Date.now() + 5 * minuteMs
  const soon = newTasks(workspaceIds, () => new Date(from + Math.random() * minuteMs), size)
  for (const tasks of soon) await insertTasks(pool, tasks)
  await measure('promote', [() => promoteBetween(pool, new Date(from), new Date(from + minuteMs))])
}

async function measureLog(pool: Pool, workspaceId: string, measure: Measure): Promise<void> {
  const none = { ...anyTask, name: 'None' }
  const start = async () => ((await startTaskOperation(pool, workspaceId, 'cancel', none)).isNew ? 1 : 0)
  await measure('cancelStart', [start])
  const step = async () => ((await stepTaskOperation(pool, 500)) ? 1 : 0)
  await measure('cancel', times(4, step))
  await pool.query('DELETE FROM task_operations')

  await pool.query(agedTasks, [workspaceId, batch * batches])
  const expire = async () => (await deleteOldRuns(pool, workspaceId, 35, (batch * batches) / 2)).deleted
  await measure('retention', times(2, expire))
  await measure('storage', [() => foldUsageChanges(pool, 10_000)])
  const organizations = 'SELECT organization_id AS id FROM workspaces WHERE id = $1'
  const { rows } = await pool.query<{ id: string }>(organizations, [workspaceId])
  const read = async () => ((await readUsage(pool, rows[0]?.id ?? '')) ? 1 : 0)
  await measure('usage', times(20, read))
}

const chores: Record<(typeof choreNames)[number], (pool: Pool) => Promise<unknown>> = {
  raiseWaitingFloor,
  mendWaitingFloor,
  measureBacklog,
  findStuckWork,
  readTenantShares,
  busiestQueues: pool => busiestQueues(pool, 20),
  recordQuotaCrossings: pool => recordQuotaCrossings(pool, defaultTiers),
  returnUnspentBlocks: pool => returnUnspentBlocks(pool, 500),
  expandCronJobs: pool => expandCronJobs(pool, { lookAheadMs: 15 * minuteMs, limit: 100 }),
  expireTasks: pool => expireTasks(pool, { limit: 500 }),
  searchLate: pool => openLateSearch(pool)(1000),
  foldRunChanges: pool => foldRunChanges(pool, 1_000),
  backfillRunStatistics: pool => backfillRunStatistics(pool, 5_000),
  workspacesToPurge,
  workspacesToWindDown,
  workspacesWithTasks: pool => workspacesWithTasks(pool, defaultTiers, null, 500),
}

const times = (count: number, call: () => Promise<number>) => Array.from({ length: count }, () => call)

const anyTask = {
  sources: null,
  cronJobIds: null,
  eventIds: null,
  topics: null,
  labels: null,
  queues: null,
  callbacksOf: null,
  name: null,
  executeFrom: null,
  executeTo: null,
}

async function promoteBetween(pool: Pool, from: Date, to: Date): Promise<number> {
  let found = 0
  await withPromotion(pool, async ({ watermark, marker, waiting }) => {
    for await (const page of waiting(from, to)) found += page.length
    return { watermark, marker }
  })
  return found
}

// Finished 40 days ago, each with its run.
const agedTasks = `
  WITH input AS MATERIALIZED (
    SELECT uuid_v7(at) AS id, uuid_v7(at + interval '1 s') AS run_id, at
    FROM generate_series(1, $2::int) i, LATERAL (SELECT now() - interval '40 days' + i * interval '10 ms' AS at) times
  ), requests AS (
    INSERT INTO task_requests (task_id, name, url, method, payload, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
    SELECT id, 'Aged', 'http://127.0.0.1:9/', 'POST', '{}', 3, 'exponential', 1000, 3600000, 30000 FROM input
  ), stored AS (
    INSERT INTO tasks (id, workspace_id, source, state, attempts, run_id, execute_at, due_at, created_at, updated_at, finished_at)
    SELECT id, $1, 'task', 'success', 1, run_id, at, at, at, at, at FROM input
  )
  INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, response_status)
  SELECT run_id, $1, id, 1, 'task', 'success', at, at, at, 200 FROM input`
