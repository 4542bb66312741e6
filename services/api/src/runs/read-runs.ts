import { findParts, type LogPart, type PartRange } from '@belfry/db/log-parts/find-parts'
import { NIL_UUID } from '@belfry/domain/id'
import { type FilteredRun, matchesRun } from '@belfry/domain/run-filter'
import type { RunRow } from '@belfry/present/run-row'
import { type StoredLine, toRunRow } from '@belfry/present/stored-rows'
import type { Context } from '../context.ts'
import { largestId, readBounded } from '../http/bounded-page.ts'
import { idAfter, maxRead, readPart } from './read-parts.ts'
import { type RunFilter, scanRuns } from './run-scan.ts'

type Rows = { rows: RunRow[]; next: string | null }
/** `isFromStorage`: whether object storage was read. */
type RunRows = Rows & { isFromStorage: boolean }

/** Reads a page of runs, newest first: those in PostgreSQL, and where the page reaches there, those in object storage. */
export async function readRuns(
  ctx: Context,
  workspaceIds: readonly string[],
  filter: RunFilter,
  after: string | undefined,
  limit: number,
): Promise<RunRows> {
  const page = await readBounded<RunRow>(ctx, scanRuns(workspaceIds, filter), after, limit)
  const hotPage = { ...page, isFromStorage: false }
  if (ctx.logStorage === null) return hotPage
  // After PostgreSQL and on the primary: a run that moves meanwhile is then found twice, and never missed.
  const range = rangeOf(filter, page.next, after)
  const parts = await findParts(ctx.primary, workspaceIds, range, maxRead.parts + 1)
  return parts.length === 0 ? hotPage : mergeParts(ctx, page, parts, { filter, range, limit })
}

/** Returns whether runs of a time are in object storage, where only lists and exports read them. */
export async function hasStoredRuns(
  ctx: Context,
  workspaceId: string,
  time: { from?: Date | undefined; to?: Date | undefined } = {},
): Promise<boolean> {
  if (ctx.logStorage === null) return false
  return (await findParts(ctx.primary, [workspaceId], rangeOf(time, null, undefined), 1)).length > 0
}

// A run starts at most some seconds after its id was made, and never before.
function rangeOf(
  { from, to, task_id }: Pick<RunFilter, 'from' | 'to' | 'task_id'>,
  next: string | null,
  after: string | undefined,
): PartRange {
  const first = from === undefined ? NIL_UUID : firstIdOf(from.getTime() - 60_000)
  const end = to === undefined ? largestId : firstIdOf(to.getTime())
  return {
    from: next !== null && next > first ? next : first,
    before: after !== undefined && after < end ? after : end,
    taskIds: task_id,
  }
}

type Search = { filter: RunFilter; range: PartRange; limit: number }

// The parts are sorted by their newest runs, so those after it have no run that is newer.
async function mergeParts(
  ctx: Context,
  { rows, next }: Rows,
  parts: readonly LogPart[],
  { filter, range, limit }: Search,
): Promise<RunRows> {
  const found = new Map(rows.map(row => [row.id, row]))
  let end = next
  let isFromStorage = false
  const began = performance.now()
  const isOnPage = (stored: StoredLine) =>
    stored.run.id >= range.from && stored.run.id < range.before && matchesRun(filter, toFilteredRun(stored))
  for (const [i, part] of parts.entries()) {
    const newer = [...found.keys()].filter(id => id > part.lastRunId)
    const isSpent = i === maxRead.parts || (i > 0 && performance.now() - began > maxRead.ms)
    if (newer.length >= limit || isSpent) {
      end = idAfter(part.lastRunId)
      break
    }
    for (const row of await readPart(ctx, part, isOnPage, limit + 1, toRunRow)) found.set(row.id, row)
    isFromStorage = true
  }
  const complete = [...found.values()]
    .filter(({ id }) => end === null || id >= end)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  const shown = complete.slice(0, limit)
  return { rows: shown, next: complete.length > limit ? (shown.at(-1)?.id ?? null) : end, isFromStorage }
}

function toFilteredRun({ run, request }: StoredLine): FilteredRun {
  const error = run.error_code === null ? null : { code: run.error_code }
  const { name: task_name, url, labels } = request
  return { ...run, cronjob_id: run.cron_job_id, error, task_name, url, labels }
}

/** Returns the first id of a time in epoch milliseconds, like `uuid_v7_floor`. */
function firstIdOf(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
