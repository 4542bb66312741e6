import type { Host, Hosts } from '@belfry/contract/host'
import { operations } from '@belfry/contract/operations'
import {
  listOpenCircuits,
  listPausedHosts,
  maxPausedHosts,
  type OpenCircuit,
  pauseHost as pauseStored,
  requestCircuitReset,
} from '@belfry/db/dispatchers/host-circuits'
import { readProcessState } from '@belfry/db/dispatchers/process-state'
import { type Db, inTransaction } from '@belfry/db/postgres/in-transaction'
import { isInFlight, originOf, waitsForTime } from '@belfry/db/tasks/task-row'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { hostOf } from '@belfry/domain/target-url'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'

export const listHosts = endpoint(operations.listHosts, async (ctx, { caller }) =>
  readHosts(ctx.pool, caller.workspaceId, ctx.clock.now()),
)

export const getHost = endpoint(operations.getHost, async (ctx, { caller, params }) =>
  readHost(ctx, caller.workspaceId, nameOf(params)),
)

export const pauseHost = endpoint(operations.pauseHost, (ctx, { caller, params }) =>
  setPaused(ctx, caller, nameOf(params), true),
)

export const resumeHost = endpoint(operations.resumeHost, (ctx, { caller, params }) =>
  setPaused(ctx, caller, nameOf(params), false),
)

export const resetCircuit = endpoint(operations.resetCircuit, async (ctx, { caller, params: { host } }) => {
  if (host.includes('\0')) throw notFound() // PostgreSQL has no such text
  const { workspaceId } = caller
  const dispatchers = await inTransaction(ctx.pool, async tx => {
    const found = await requestCircuitReset(tx, { workspaceId, host })
    if (found === 0) throw notFound()
    await audit(tx, caller, 'host.reset', host)
    return found
  })
  return { dispatchers }
})

async function setPaused(ctx: Context, caller: Allowed<'host.write'>, host: string, isPaused: boolean) {
  const { workspaceId } = caller
  await inTransaction(ctx.pool, async tx => {
    const isStored = await pauseStored(tx, { workspaceId, host }, isPaused)
    if (!isStored)
      throw new AppError('conflict', `A workspace pauses at most ${maxPausedHosts} hosts. Resume one first.`)
    await audit(tx, caller, isPaused ? 'host.paused' : 'host.resumed', host)
  })
  return readHost(ctx, workspaceId, host)
}

/** Returns the host in a path, as `hostOf` spells it. Throws `not_found`. */
function nameOf({ host }: { host: string }): string {
  if (hostOf(`https://${host}`) !== host && hostOf(`http://${host}`) !== host) throw notFound()
  return host
}

async function readHost(ctx: Context, workspaceId: string, host: string): Promise<Host> {
  const limits = { ...defaultLimits, hosts: Number.POSITIVE_INFINITY }
  const { data } = await readHosts(ctx.pool, workspaceId, ctx.clock.now(), limits, [host])
  const found = data.find(one => one.host === host)
  if (!found) throw notFound()
  return found
}

/** How much is read at most. */
export type HostLimits = { runs: number; tasks: number; hosts: number }

const defaultLimits: HostLimits = { runs: 5_000, tasks: 10_000, hosts: 200 }
const periodMs = 3_600_000

type RunRow = {
  origin: string
  id: string
  startedAt: Date
  durationMs: number
  status: 'success' | 'failed'
  responseStatus: number | null
  errorCode: string | null
}
type TaskRow = { origin: string; isWaiting: boolean; count: number }
type Counts = { waiting: number; inFlight: number; runs: RunRow[] }

/** Reads the hosts that a workspace called in the last hour, that its tasks wait for, or that are paused, and given ones. */
export async function readHosts(
  db: Db,
  workspaceId: string,
  nowMs: number,
  limits: HostLimits = defaultLimits,
  given: readonly string[] = [],
): Promise<Hosts> {
  const [circuits, paused, { permitsPerHost }, runs, tasks] = await Promise.all([
    listOpenCircuits(db, workspaceId),
    listPausedHosts(db, workspaceId),
    readProcessState(db),
    readLatestRuns(db, workspaceId, nowMs, limits.runs),
    countTasks(db, workspaceId, limits.tasks),
  ])
  const isCut = runs.length === limits.runs
  const fromMs = isCut ? (runs.at(-1)?.startedAt.getTime() ?? nowMs) : nowMs - periodMs
  const open = new Map(circuits.map(circuit => [circuit.host, circuit]))
  const counts = countByHost(runs, tasks, [...open.keys(), ...paused.keys(), ...given])
  const minutes = Math.max(nowMs - fromMs, 1_000) / 60_000
  const all = [...counts]
    .map(([host, of]) => presentHost(host, of, { circuit: open.get(host), pausedAt: paused.get(host) }, minutes))
    .sort((a, b) => urgencyOf(b) - urgencyOf(a) || b.waiting - a.waiting || b.failed - a.failed || compare(a, b))
  return {
    data: all.slice(0, limits.hosts),
    from: new Date(fromMs).toISOString(),
    omitted: Math.max(0, all.length - limits.hosts),
    waiting_is_capped: tasks.reduce((sum, { isWaiting, count }) => sum + (isWaiting ? count : 0), 0) >= limits.tasks,
    max_in_flight_per_host: permitsPerHost,
  }
}

function countByHost(
  runs: readonly RunRow[],
  tasks: readonly TaskRow[],
  others: readonly string[],
): Map<string, Counts> {
  const counts = new Map<string, Counts>()
  const of = (host: string) => {
    const known = counts.get(host) ?? { waiting: 0, inFlight: 0, runs: [] }
    counts.set(host, known)
    return known
  }
  for (const host of others) of(host)
  // Different spellings of an origin are one host.
  for (const run of runs) of(hostOf(run.origin)).runs.push(run)
  for (const { origin, isWaiting, count } of tasks) of(hostOf(origin))[isWaiting ? 'waiting' : 'inFlight'] += count
  return counts
}

// The runs are in the order of their ids, the latest first.
function presentHost(
  host: string,
  { waiting, inFlight, runs }: Counts,
  { circuit, pausedAt }: { circuit: OpenCircuit | undefined; pausedAt: Date | undefined },
  minutes: number,
): Host {
  const failures = runs.filter(({ status }) => status === 'failed')
  const [last] = failures
  const durations = runs.map(({ durationMs }) => durationMs).sort((a, b) => a - b)
  return {
    host,
    circuit: {
      state: circuit?.state ?? 'closed',
      since: circuit?.since.toISOString() ?? null,
      next_probe_at: circuit?.nextProbeAt.toISOString() ?? null,
      dispatchers: circuit?.dispatchers ?? 0,
    },
    paused_at: pausedAt?.toISOString() ?? null,
    waiting,
    in_flight: inFlight,
    attempts: runs.length,
    failed: failures.length,
    attempts_per_minute: Math.round((runs.length / minutes) * 10) / 10,
    duration_p50_ms: durations[Math.floor((durations.length - 1) / 2)] ?? null,
    last_failure: last
      ? {
          run_id: toId('run', last.id),
          at: last.startedAt.toISOString(),
          response_status: last.responseStatus,
          error_code: last.errorCode,
        }
      : null,
  }
}

function urgencyOf({ circuit, paused_at: pausedAt }: Host): number {
  return circuit.state === 'closed' && pausedAt === null ? 0 : 1
}

function compare(a: Host, b: Host): number {
  return a.host < b.host ? -1 : 1
}

async function readLatestRuns(db: Db, workspaceId: string, nowMs: number, limit: number): Promise<RunRow[]> {
  const text = `
    WITH latest AS MATERIALIZED (
      SELECT id, task_id, started_at, finished_at, status, response_status, error_code FROM runs
      WHERE workspace_id = $1 AND id >= uuid_v7_floor($2::timestamptz) ORDER BY id DESC LIMIT $3
    )
    SELECT ${originOf('r.url')} AS origin, l.id, l.started_at AS "startedAt", l.status,
           (extract(epoch FROM l.finished_at - l.started_at) * 1000)::int AS "durationMs",
           l.response_status AS "responseStatus", l.error_code AS "errorCode"
    FROM latest l JOIN task_requests r ON r.task_id = l.task_id ORDER BY l.id DESC`
  return (await db.query<RunRow>(text, [workspaceId, new Date(nowMs - periodMs), limit])).rows
}

/** Counts the tasks that are due, and those with an attempt in flight, by the origin of their URL. */
async function countTasks(db: Db, workspaceId: string, limit: number): Promise<TaskRow[]> {
  const text = `
    SELECT ${originOf('r.url')} AS origin, found.is_waiting AS "isWaiting", count(*)::int AS count
    FROM (
      (SELECT id, true AS is_waiting FROM tasks t
       WHERE workspace_id = $1 AND ${waitsForTime} AND due_at <= now() ORDER BY due_at LIMIT $2)
      UNION ALL
      (SELECT id, false FROM tasks WHERE workspace_id = $1 AND ${isInFlight} LIMIT $2)
    ) found JOIN task_requests r ON r.task_id = found.id
    GROUP BY 1, 2`
  return (await db.query<TaskRow>(text, [workspaceId, limit])).rows
}
