import { setTimeout as sleep } from 'node:timers/promises'
import { abandonPart, forgetPart, markOldParts, partsToDelete } from '@belfry/db/log-parts/delete-parts'
import { hasLogParts } from '@belfry/db/log-parts/find-parts'
import { finishPart, type NextPart, readNextPart, startPart } from '@belfry/db/log-parts/store-part'
import { type KeptLog, workspacesWithTasks } from '@belfry/db/retention/kept-logs'
import { toId } from '@belfry/domain/id'
import { checksumOf, pack } from '@belfry/object-storage'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'
import { drain, rowsOf } from './drain.ts'

const workspacesPerPage = 500
const partsPerPage = 500
// Between parts, so moving uses only a part of the database's capacity.
const pauseMs = 50
// Then object storage is probably away, and each failure may take minutes: the next round tries again.
const maxInRow = 3

/**
 * Moves the runs of days before the hot period to object storage. A run is in PostgreSQL until the transaction that records its
 * part as stored. A workspace whose runs cannot be moved does not delay the others.
 * @returns How many runs were moved.
 * @throws The last error, after the round.
 */
export async function storeLog(ctx: Context, signal: AbortSignal): Promise<number> {
  if (ctx.logStorage === null) return 0
  let total = 0
  const failed = { count: 0, inRow: 0, error: null as unknown }
  const read = (after: string | null, limit: number) => workspacesWithTasks(ctx.pool, ctx.tiers, after, limit)
  for await (const kept of rowsOf(signal, workspacesPerPage, read, ({ workspaceId }) => workspaceId)) {
    if (kept.days <= ctx.logStorage.hotDays) continue
    try {
      total += await storeWorkspace(ctx, ctx.logStorage, kept, signal)
      failed.inRow = 0
    } catch (error) {
      Object.assign(failed, { count: failed.count + 1, inRow: failed.inRow + 1, error })
      ctx.log.warn({ err: error, workspace: toId('ws', kept.workspaceId) }, 'log.not_stored')
      if (failed.inRow === maxInRow) break
    }
  }
  if (!signal.aborted) ctx.metrics.logNotStored(failed.count)
  if (total > 0) ctx.log.info({ runs: total }, 'log.stored')
  if (failed.count > 0) throw failed.error
  return total
}

async function storeWorkspace(
  ctx: Context,
  storage: NonNullable<Context['logStorage']>,
  { workspaceId, days: keptDays }: KeptLog,
  signal: AbortSignal,
): Promise<number> {
  let total = 0
  let continued: string | null = null
  for (let after: string | null = null; !signal.aborted; ) {
    const search = { workspaceId, hotDays: storage.hotDays, keptDays, after, continued }
    const { day, runs, next }: NextPart = await readNextPart(ctx.pool, search)
    if (next === null) break
    after = next
    if (day === null) continue
    // Sorted newest first, like lists: a list stops reading when its page is full.
    const object = await pack(runs.map(({ line }) => line).reverse())
    const checksum = checksumOf(object)
    const content = { workspaceId, day, runs, objectBytes: object.length, checksum }
    const part = await startPart(ctx.pool, content, id => `${toId('ws', workspaceId)}/${day}/${id}.jsonl.gz`)
    if (part === null) break // another scheduler moves the log of this workspace
    if (__FAILPOINTS__) await failpoint('scheduler.log_part_started')
    try {
      await storage.objects.write(part.objectKey, object, checksum)
      if (__FAILPOINTS__) await failpoint('scheduler.log_part_written')
      if (await finishPart(ctx.pool, workspaceId, part.id, runs)) {
        total += runs.length
        continued = day
      } else await abandonPart(ctx.pool, workspaceId, part.id)
    } catch (error) {
      await abandonPart(ctx.pool, workspaceId, part.id).catch(() => {}) // it is abandoned by its age
      throw error
    }
    if (__FAILPOINTS__) await failpoint('scheduler.log_part_stored')
    await sleep(pauseMs, undefined, { signal }).catch(() => {}) // an aborted sleep ends the loop
  }
  return total
}

/**
 * Deletes the parts of the log that no organization keeps, of deleted workspaces, and of interrupted uploads. The row of a part
 * stays until its object is gone.
 * @returns How many parts were deleted.
 */
export async function expireLogParts(ctx: Context, signal: AbortSignal): Promise<number> {
  if (ctx.logStorage === null) {
    if (await hasLogParts(ctx.pool)) ctx.log.warn({}, 'log_storage.missing')
    return 0
  }
  await drain(signal, partsPerPage, limit => markOldParts(ctx.pool, ctx.tiers, ctx.legalHold, limit))
  const read = (after: string | null, limit: number) => partsToDelete(ctx.pool, after, limit)
  let total = 0
  for await (const part of rowsOf(signal, partsPerPage, read, ({ id }) => id)) {
    await ctx.logStorage.objects.remove(part.objectKey)
    if (__FAILPOINTS__) await failpoint('scheduler.log_object_deleted')
    await forgetPart(ctx.pool, part)
    total++
  }
  if (total > 0) ctx.log.info({ parts: total }, 'log_parts.deleted')
  return total
}
