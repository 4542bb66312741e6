import type { Host, Hosts } from '@belfry/contract/host'
import { operations } from '@belfry/contract/operations'
import type { RunFailures } from '@belfry/contract/run'
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
import { countHosts, type HostCount, hostWindows } from '@belfry/db/run-statistics/host-statistics'
import { isInFlight, originOf, waitsForTime } from '@belfry/db/tasks/task-row'
import { AppError, notFound } from '@belfry/domain/app-error'
import { hostOf } from '@belfry/domain/target-url'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { groupFailures } from '../runs/count-runs.ts'

export const listHosts = endpoint(operations.listHosts, async (ctx, { caller }) =>
  readHosts(ctx.pool, caller.workspaceId, ctx.clock.now()),
)

export const getHost = endpoint(operations.getHost, readHost)
export const pauseHost = endpoint(operations.pauseHost, (ctx, input) => setPaused(ctx, input, true))
export const resumeHost = endpoint(operations.resumeHost, (ctx, input) => setPaused(ctx, input, false))

export const resetCircuit = endpoint(operations.resetCircuit, async (ctx, { caller, params: { host } }) => {
  const { workspaceId } = caller
  const dispatchers = await inTransaction(ctx.pool, async tx => {
    const found = await requestCircuitReset(tx, { workspaceId, host })
    if (found > 0) await audit(tx, caller, 'host.reset', host)
    return found
  })
  return { dispatchers }
})

type OfHost<Caller> = { caller: Caller; params: { host: string } }

async function setPaused(ctx: Context, input: OfHost<Allowed<'host.write'>>, isPaused: boolean) {
  const { caller, params } = input
  const { workspaceId } = caller
  const { host } = params
  if (!isName(host)) throw notFound()
  await inTransaction(ctx.pool, async tx => {
    const isStored = await pauseStored(tx, { workspaceId, host }, isPaused)
    if (!isStored)
      throw new AppError('conflict', `A workspace pauses at most ${maxPausedHosts} hosts. Resume one first.`)
    await audit(tx, caller, isPaused ? 'host.paused' : 'host.resumed', host)
  })
  return readHost(ctx, input)
}

// Returns whether a host in a path is as `hostOf` spells it.
function isName(host: string): boolean {
  return hostOf(`https://${host}`) === host || hostOf(`http://${host}`) === host
}

async function readHost(ctx: Context, { caller: { workspaceId }, params: { host } }: OfHost<{ workspaceId: string }>) {
  const limits = { ...defaultLimits, hosts: Number.POSITIVE_INFINITY }
  const given = isName(host) ? [host] : []
  const { data } = await readHosts(ctx.pool, workspaceId, ctx.clock.now(), limits, given)
  return data.find(one => one.host === host) ?? null
}

/** How much is read at most: failed runs, tasks, and hosts in the result. */
const defaultLimits = { failures: 1_000, tasks: 10_000, hosts: 200 }
const dayMs = 86_400_000

type Found = { waiting: number; inFlight: number; counts: HostCount[]; lastFailure: Host['last_failure'] }

/** Reads the hosts that a workspace called in the last day, that its tasks wait for, or that are paused, and given ones. */
export async function readHosts(
  db: Db,
  workspaceId: string,
  nowMs: number,
  limits = defaultLimits,
  given: readonly string[] = [],
): Promise<Hosts> {
  const from = new Date(nowMs - dayMs)
  const [circuits, paused, { permitsPerHost }, counts, failures, tasks] = await Promise.all([
    listOpenCircuits(db, workspaceId),
    listPausedHosts(db, workspaceId),
    readProcessState(db),
    countHosts(db, workspaceId, nowMs),
    groupFailures(db, workspaceId, { from }, { runs: limits.failures, groups: limits.failures }),
    countTasksByHost(db, workspaceId, limits.tasks),
  ])
  const open = new Map(circuits.map(circuit => [circuit.host, circuit]))
  const found = findHosts(counts, failures.data, tasks.hosts, [...open.keys(), ...paused.keys(), ...given])
  const shared = { waiting_is_capped: tasks.isCapped, max_in_flight: permitsPerHost }
  const all = [...found]
    .map(([host, of]) => ({ ...presentHost(host, of, open.get(host), paused.get(host)), ...shared }))
    .sort(
      (a, b) =>
        urgencyOf(b) - urgencyOf(a) ||
        b.waiting - a.waiting ||
        b.health.hour.failed - a.health.hour.failed ||
        (a.host < b.host ? -1 : 1),
    )
  return { data: all.slice(0, limits.hosts), omitted: Math.max(0, all.length - limits.hosts) }
}

function findHosts(
  counts: readonly HostCount[],
  failures: RunFailures['data'],
  tasks: TasksByHost['hosts'],
  others: readonly string[],
): Map<string, Found> {
  const found = new Map<string, Found>()
  const of = (host: string) => {
    const known = found.get(host) ?? { waiting: 0, inFlight: 0, counts: [], lastFailure: null }
    found.set(host, known)
    return known
  }
  for (const host of others) of(host)
  // Different spellings of an origin are one host.
  for (const count of counts) of(hostOf(`https://${count.host}`)).counts.push(count)
  for (const [host, { waiting, inFlight }] of tasks) Object.assign(of(host), { waiting, inFlight })
  for (const { host, last_run_id: run_id, last_at: at, response_status, error_code } of failures) {
    const known = of(hostOf(`https://${host}`))
    if (known.lastFailure === null || known.lastFailure.at < at)
      known.lastFailure = { run_id, at, response_status, error_code }
  }
  return found
}

function presentHost(
  host: string,
  { waiting, inFlight, counts, lastFailure }: Found,
  circuit: OpenCircuit | undefined,
  pausedAt: Date | undefined,
) {
  return {
    host,
    circuit: {
      state: circuit?.state ?? ('closed' as const),
      since: circuit?.since.toISOString() ?? null,
      next_probe_at: circuit?.nextProbeAt.toISOString() ?? null,
      dispatchers: circuit?.dispatchers ?? 0,
    },
    paused_at: pausedAt?.toISOString() ?? null,
    waiting,
    in_flight: inFlight,
    health: Object.fromEntries(
      hostWindows.map(window => [window, sumOf(counts.filter(one => one.window === window))]),
    ) as Host['health'], // the names of the windows
    last_failure: lastFailure,
  }
}

function sumOf(counts: readonly HostCount[]): Host['health']['five_minutes'] {
  const sum = (of: 'attempts' | 'failed' | 'totalDurationMs') => counts.reduce((total, one) => total + one[of], 0)
  const attempts = sum('attempts')
  return {
    attempts,
    failed: sum('failed'),
    duration_ms: attempts === 0 ? null : Math.round(sum('totalDurationMs') / attempts),
  }
}

function urgencyOf({ circuit, paused_at: pausedAt }: Host): number {
  return circuit.state === 'closed' && pausedAt === null ? 0 : 1
}

/** How many tasks of each host are due, and how many have an attempt in flight. `isCapped`: more are due. */
type TasksByHost = { hosts: Map<string, { waiting: number; inFlight: number }>; isCapped: boolean }

type Row = { origin: string; isWaiting: boolean; count: number }

/** Counts the tasks of a workspace by host, up to `limit` of those that are due. */
export async function countTasksByHost(db: Db, workspaceId: string, limit: number): Promise<TasksByHost> {
  const text = `
    SELECT ${originOf('r.url')} AS origin, found.is_waiting AS "isWaiting", count(*)::int AS count
    FROM (
      (SELECT id, true AS is_waiting FROM tasks t
       WHERE workspace_id = $1 AND ${waitsForTime} AND due_at <= now() ORDER BY due_at LIMIT $2)
      UNION ALL
      (SELECT id, false FROM tasks WHERE workspace_id = $1 AND ${isInFlight} LIMIT $2)
    ) found JOIN task_requests r ON r.task_id = found.id
    GROUP BY 1, 2`
  const { rows } = await db.query<Row>(text, [workspaceId, limit])
  const hosts: TasksByHost['hosts'] = new Map()
  for (const { origin, isWaiting, count } of rows) {
    // Different spellings of an origin are one host.
    const host = hostOf(origin)
    const known = hosts.get(host) ?? { waiting: 0, inFlight: 0 }
    known[isWaiting ? 'waiting' : 'inFlight'] += count
    hosts.set(host, known)
  }
  const due = rows.reduce((sum, { isWaiting, count }) => sum + (isWaiting ? count : 0), 0)
  return { hosts, isCapped: due >= limit }
}
