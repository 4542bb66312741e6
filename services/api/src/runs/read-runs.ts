import { findParts, isPartReadable, type LogPart } from '@belfry/db'
import { AppError, NIL_UUID } from '@belfry/domain'
import { MissingObjectError, readLines } from '@belfry/object-storage'
import type { Context } from '../context.ts'
import { largestId, readBounded } from '../http/bounded-page.ts'
import type { RunDetailRow, RunRow } from './run-row.ts'
import { type RunFilter, scanRuns } from './run-scan.ts'
import { matchesFilter, parseStoredLine, type StoredRun, toRunDetailRow, toRunRow } from './stored-line.ts'

/** What one page may read. A page that needs more ends early, with a cursor. */
export const maxOfPage = { parts: 20, ms: 5_000 }

type RunPage = { rows: RunRow[]; next: string | null }

/** Reads a page of runs, newest first: those in PostgreSQL, and where the page reaches there, those in object storage. */
export async function readRuns(
  ctx: Context,
  workspaceIds: readonly string[],
  filter: RunFilter,
  after: string | undefined,
  limit: number,
): Promise<RunPage> {
  const page = await readBounded<RunRow>(ctx, scanRuns(workspaceIds, filter), after, limit)
  if (ctx.logStorage === null) return page
  // After PostgreSQL and on the primary: a run that moves meanwhile is then found twice, and never missed.
  const range = rangeOf(filter, page.next, after)
  const parts = await findParts(ctx.primary, workspaceIds, range, maxOfPage.parts + 1)
  return parts.length === 0 ? page : mergeParts(ctx, page, parts, { filter, range, limit })
}

/** Reads a run from object storage; null when it is not there. */
export async function readStoredRun(ctx: Context, workspaceId: string, id: string): Promise<RunDetailRow | null> {
  if (ctx.logStorage === null) return null
  for (const part of await findParts(ctx.primary, [workspaceId], { from: id, before: idAfter(id) }, maxOfPage.parts)) {
    const [stored] = await readPart(ctx, part, ({ run }) => run.id === id, 1)
    if (stored) return toRunDetailRow(stored)
  }
  return null
}

type Range = { from: string; before: string }

// A run starts at most some seconds after its id was made, and never before.
function rangeOf({ from, to }: RunFilter, next: string | null, after: string | undefined): Range {
  const first = from === undefined ? NIL_UUID : firstIdOf(from.getTime() - 60_000)
  const end = to === undefined ? largestId : firstIdOf(to.getTime())
  return {
    from: next !== null && next > first ? next : first,
    before: after !== undefined && after < end ? after : end,
  }
}

type Search = { filter: RunFilter; range: Range; limit: number }

// The parts are sorted by their newest runs, so those after it have no run that is newer.
async function mergeParts(
  ctx: Context,
  { rows, next }: RunPage,
  parts: readonly LogPart[],
  { filter, range, limit }: Search,
): Promise<RunPage> {
  const found = new Map(rows.map(row => [row.id, row]))
  let end = next
  const began = performance.now()
  const isOnPage = (stored: StoredRun) =>
    stored.run.id >= range.from && stored.run.id < range.before && matchesFilter(stored, filter)
  for (const [i, part] of parts.entries()) {
    const newer = [...found.keys()].filter(id => id > part.lastRunId)
    const isSpent = i === maxOfPage.parts || (i > 0 && performance.now() - began > maxOfPage.ms)
    if (newer.length > limit || isSpent) {
      end = idAfter(part.lastRunId)
      break
    }
    for (const stored of await readPart(ctx, part, isOnPage, limit + 1)) found.set(stored.run.id, toRunRow(stored))
  }
  const complete = [...found.values()]
    .filter(({ id }) => end === null || id >= end)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
  const shown = complete.slice(0, limit)
  return { rows: shown, next: complete.length > limit ? (shown.at(-1)?.id ?? null) : end }
}

/** Reads up to `limit` matching runs of a part, newest first. */
function readPart(
  ctx: Context,
  part: LogPart,
  matches: (stored: StoredRun) => boolean,
  limit: number,
): Promise<StoredRun[]> {
  return ctx
    .partLimit(async () => {
      const found: StoredRun[] = []
      const object = await ctx.logStorage?.read(part.objectKey)
      if (!object) return found
      for await (const line of readLines(object)) {
        const stored = parseStoredLine(line)
        if (stored?.run.workspace_id !== part.workspaceId || !matches(stored)) continue
        if (found.push(stored) === limit) break
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

/** Returns the first id of a time in epoch milliseconds, like `uuid_v7_floor`. */
function firstIdOf(time: number): string {
  const hex = Math.max(0, time).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

function idAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
