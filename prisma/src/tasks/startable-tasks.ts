import { hostOf } from '@belfry/domain/target-url'
import { isLive } from '../dispatchers/heartbeat.ts'
import { isPause } from '../dispatchers/host-circuits.ts'
import { readProcessState } from '../dispatchers/process-state.ts'
import { queryInIndexOrder } from '../postgres/in-index-order.ts'
import type { Pool } from '../postgres/pool.ts'
import { isInFlight, isWaiting, originOf } from './task-row.ts'
import { leaseFloor, waitingFloor } from './waiting-floor.ts'

/**
 * SQL: as far as PostgreSQL knows, the due task `t` may start. `measureDueWork` also checks its host, in one spelling
 * of its name.
 */
const isStartable = 't.workspace_id NOT IN (SELECT id FROM suspended_workspaces)'

/**
 * The due, unclaimed tasks. A startable one waits for Belfry. Any other one waits for its target or its tenant: its host is
 * paused or its circuit breaker is open, its host has all of its permits in use, or its workspace is suspended.
 */
export type DueWork = {
  /** Due tasks, up to `maxCounted`. */
  due: number
  startable: number
  /** How long the oldest due task has been due; 0 if no task is due. */
  oldestDueSeconds: number
  oldestStartableSeconds: number
}

export const maxCounted = 10_000

// Beyond the oldest tasks, this many of each workspace are read, so the backlog of one workspace cannot hide the
// others.
const maxOfWorkspace = 100
// A single account may take nine tenths of the permits of a host.
const fullShare = 0.8

type DueGroup = { workspaceId: string; origin: string; isStartable: boolean; count: number; seconds: number }

/** @param workspaceId - Default: the tasks of all workspaces. */
export async function measureDueWork(pool: Pool, workspaceId: string | null = null): Promise<DueWork> {
  const groups = await readDueGroups(pool, workspaceId)
  if (groups.length === 0) return { due: 0, startable: 0, oldestDueSeconds: 0, oldestStartableSeconds: 0 }
  const blocks = await readHostBlocks(pool)
  const startable = groups.filter(group => group.isStartable && !blocks(group))
  const sum = (of: readonly DueGroup[]) => of.reduce((total, { count }) => Math.min(maxCounted, total + count), 0)
  const oldest = (of: readonly DueGroup[]) => Math.max(0, ...of.map(({ seconds }) => seconds))
  return {
    due: sum(groups),
    startable: sum(startable),
    oldestDueSeconds: oldest(groups),
    oldestStartableSeconds: oldest(startable),
  }
}

function readDueGroups(pool: Pool, workspaceId: string | null): Promise<DueGroup[]> {
  return workspaceId === null
    ? queryInIndexOrder(pool, { name: 'due_groups', text: dueGroupsStatement, values: [maxCounted, maxOfWorkspace] })
    : queryInIndexOrder(pool, { name: 'due_groups_of', text: dueGroupsOfStatement, values: [maxCounted, workspaceId] })
}

/** Returns a function that tells whether the host of a task keeps it waiting. */
async function readHostBlocks(pool: Pool): Promise<(task: { workspaceId: string; origin: string }) => boolean> {
  const [circuits, { permitsPerHost }, calls] = await Promise.all([
    pool.query<{ workspaceId: string; host: string }>({ name: 'open_circuits', text: circuitsStatement }),
    readProcessState(pool),
    pool.query<{ origin: string; count: number }>({ name: 'calls_by_origin', text: callsStatement }),
  ])
  const open = new Set(circuits.rows.map(({ workspaceId, host }) => `${workspaceId} ${host}`))
  const inFlight = new Map<string, number>()
  for (const { origin, count } of calls.rows) {
    const host = hostOf(origin)
    inFlight.set(host, (inFlight.get(host) ?? 0) + count)
  }
  const isFull = (host: string) => permitsPerHost > 0 && (inFlight.get(host) ?? 0) >= permitsPerHost * fullShare
  return ({ workspaceId, origin }) => {
    const host = hostOf(origin)
    return open.has(`${workspaceId} ${host}`) || isFull(host)
  }
}

const groupsOf = (tasks: string) => `
  SELECT t.workspace_id AS "workspaceId", coalesce(${originOf('r.url')}, '') AS origin, ${isStartable} AS "isStartable",
         count(*)::int AS count, extract(epoch FROM clock_timestamp() - min(t.due_at))::float8 AS seconds
  FROM (${tasks}) t LEFT JOIN task_requests r ON r.task_id = t.id
  GROUP BY 1, 2, 3`

export const dueGroupsStatement = `
  WITH head AS MATERIALIZED (
    SELECT id, workspace_id, due_at FROM tasks
    WHERE ${isWaiting} AND due_at >= ${waitingFloor} AND due_at <= now()
    ORDER BY due_at, id LIMIT $1
  ), behind AS (
    SELECT due.id, due.workspace_id, due.due_at FROM workspaces w CROSS JOIN LATERAL (
      SELECT id, workspace_id, due_at FROM tasks
      WHERE ${isWaiting} AND (workspace_id, due_at) >= (w.id, ${waitingFloor}) AND (workspace_id, due_at) <= (w.id, now())
      ORDER BY workspace_id, due_at, id LIMIT $2
    ) due WHERE (SELECT count(*) FROM head) = $1
  )
  ${groupsOf('SELECT * FROM head UNION SELECT * FROM behind')}`

export const dueGroupsOfStatement = groupsOf(`
    SELECT id, workspace_id, due_at FROM tasks
    WHERE ${isWaiting} AND (workspace_id, due_at) >= ($2, ${waitingFloor}) AND (workspace_id, due_at) <= ($2, now())
    ORDER BY workspace_id, due_at, id LIMIT $1`)

const circuitsStatement = `
  SELECT DISTINCT r.workspace_id AS "workspaceId", r.host
  FROM resting_hosts r LEFT JOIN dispatchers d ON d.id = r.dispatcher AND ${isLive('d')}
  WHERE r.reset_at IS NULL AND (d.id IS NOT NULL OR ${isPause})`

const callsStatement = `
  SELECT ${originOf('r.url')} AS origin, count(*)::int AS count
  FROM tasks t JOIN task_requests r ON r.task_id = t.id
  WHERE ${isInFlight} AND t.lease_until >= ${leaseFloor} GROUP BY 1`
