import { findParts, isPartReadable, type LogPart } from '@belfry/db/log-parts/find-parts'
import { AppError } from '@belfry/domain/app-error'
import { NIL_UUID } from '@belfry/domain/id'
import { MissingObjectError, readLines } from '@belfry/object-storage'
import type { RunDetailRow } from '@belfry/present/run-row'
import { parseStoredLine, type StoredLine, toRunDetailRow } from '@belfry/present/stored-rows'
import type { Context } from '../context.ts'
import { largestId } from '../http/bounded-page.ts'

/** What one request may read of object storage. A page that needs more ends early, with a cursor. */
export const maxRead = { parts: 20, ms: 5_000 }

/** Reads a run from object storage; null when it is not there. */
export async function readStoredRun(ctx: Context, workspaceId: string, id: string): Promise<RunDetailRow | null> {
  if (ctx.logStorage === null) return null
  for (const part of await findParts(ctx.primary, [workspaceId], { from: id, before: idAfter(id) }, maxRead.parts)) {
    const [stored] = await readPart(ctx, part, ({ run }) => run.id === id, 1, toRunDetailRow)
    if (stored) return stored
  }
  return null
}

/** The last run of a finished task in object storage. `isComplete`: no other part may have one. */
export type StoredTask = { last: StoredLine | null; isComplete: boolean }

/**
 * Finds the last run of a finished task in object storage, with the task. It begins with the oldest part that may have it,
 * because most tasks end soon after they were created.
 */
export async function findStoredTask(ctx: Context, workspaceId: string, taskId: string): Promise<StoredTask> {
  if (ctx.logStorage === null) return { last: null, isComplete: true }
  const range = { from: NIL_UUID, before: largestId, taskIds: [taskId] }
  const parts = await findParts(ctx.primary, [workspaceId], range, maxRead.parts + 1, 'ASC')
  const began = performance.now()
  for (const [i, part] of parts.entries()) {
    if (i === maxRead.parts || (i > 0 && performance.now() - began > maxRead.ms))
      return { last: null, isComplete: false }
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
export function readPart<Row>(
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

/** Returns the id after another one. */
export function idAfter(id: string): string {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0')
  return next.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
