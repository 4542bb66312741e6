import { findParts, isPartReadable, type LogPart, type PartRange } from '@belfry/db/log-parts/find-parts'
import { AppError } from '@belfry/domain/app-error'
import { firstUuidAt, NIL_UUID } from '@belfry/domain/id'
import { type FilteredRun, matchesRun } from '@belfry/domain/run-filter'
import { MissingObjectError, readLines } from '@belfry/object-storage'
import type { RunDetailRow, RunRow } from '@belfry/present/run-row'
import { parseStoredLine, type StoredLine, toRunDetailRow, toRunRow } from '@belfry/present/stored-rows'
import type { Context } from '../context.ts'
import { largestId, readBounded } from '../http/bounded-page.ts'
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
  const first = from === undefined ? NIL_UUID : firstUuidAt(from.getTime() - 60_000)
  const end = to === undefined ? largestId : firstUuidAt(to.getTime())
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
  const isSpent = readBudget()
  const isOnPage = (stored: StoredLine) =>
    stored.run.id >= range.from && stored.run.id < range.before && matchesRun(filter, toFilteredRun(stored))
  for (const [i, part] of parts.entries()) {
    const newer = [...found.keys()].filter(id => id > part.lastRunId)
    if (newer.length >= limit || isSpent(i)) {
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

/** What one request may read of object storage. A page that needs more ends early, with a cursor. */
export const maxRead = { parts: 20, ms: 5_000 }

function readBudget(): (partsRead: number) => boolean {
  const began = performance.now()
  return count => count === maxRead.parts || (count > 0 && performance.now() - began > maxRead.ms)
}

export async function readStoredRun(ctx: Context, workspaceId: string, id: string): Promise<RunDetailRow | null> {
  if (ctx.logStorage === null) return null
  for (const part of await findParts(ctx.primary, [workspaceId], { from: id, before: idAfter(id) }, maxRead.parts)) {
    const [stored] = await readPart(ctx, part, ({ run }) => run.id === id, 1, toRunDetailRow)
    if (stored) return stored
  }
  return null
}

/** The last run of a finished task in object storage. `isComplete`: no other part may have one. */
type StoredTask = { last: StoredLine | null; isComplete: boolean }

/**
 * Finds the last run of a finished task in object storage, with the task. It begins with the oldest part that may have it,
 * because most tasks end soon after they were created.
 */
export async function findStoredTask(ctx: Context, workspaceId: string, taskId: string): Promise<StoredTask> {
  if (ctx.logStorage === null) return { last: null, isComplete: true }
  const range = { from: NIL_UUID, before: largestId, taskIds: [taskId] }
  const parts = await findParts(ctx.primary, [workspaceId], range, maxRead.parts + 1, 'ASC')
  const isSpent = readBudget()
  for (const [i, part] of parts.entries()) {
    if (isSpent(i)) return { last: null, isComplete: false }
    const isLast = ({ run, task }: StoredLine) => run.task_id === taskId && task?.run_id === run.id
    const [last] = await readPart(ctx, part, isLast, 1, stored => stored)
    if (last) return { last, isComplete: true }
  }
  return { last: null, isComplete: true }
}

/**
 * Reads up to `limit` matching runs of a part, newest first.
 * @param toRow - Keeps what the caller needs: a line has the bodies of the request and the response.
 */
function readPart<Row>(
  ctx: Context,
  part: LogPart,
  matches: (stored: StoredLine) => boolean,
  limit: number,
  toRow: (stored: StoredLine) => Row,
): Promise<Row[]> {
  return ctx
    .partLimit(async () => {
      const found: Row[] = []
      const object = await ctx.logStorage?.read(part.objectKey)
      if (!object) return found
      for await (const line of readLines(object)) {
        const stored = parseStoredLine(line)
        if (stored?.run.workspace_id !== part.workspaceId || !matches(stored)) continue
        if (found.push(toRow(stored)) === limit) break
      }
      return found
    })
    .catch(async cause => {
      // The retention may have deleted the part since it was found.
      if (cause instanceof MissingObjectError && !(await isPartReadable(ctx.primary, part.workspaceId, part.id)))
        return []
      ctx.log.warn({ err: cause, part: part.objectKey }, 'log_storage.failed')
      throw new AppError('log_storage_unavailable', unavailable, { cause })
    })
}

const unavailable = 'These runs are in object storage, which does not answer. Ask for newer runs, or try again later.'

function idAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
