import { findOrphans, type PartObject } from '@belfry/db/log-parts/delete-parts'
import { fromId } from '@belfry/domain/id'
import type { Context } from './context.ts'

/**
 * Deletes the objects of the log that have no part in PostgreSQL and that nothing keeps: see `findOrphans`. A database that was
 * restored from a backup does not know the parts that were written after it. It moves their runs again, to other objects.
 * @param prefix - Default: the objects of all workspaces.
 * @returns How many objects were deleted.
 */
export async function deleteOrphans(ctx: Context, signal: AbortSignal, prefix = ''): Promise<number> {
  if (ctx.logStorage === null) return 0
  const { objects } = ctx.logStorage
  let total = 0
  for (let after: string | null = null; !signal.aborted; ) {
    const page: string[] = await objects.list(prefix, after)
    const found = page.flatMap(key => parseKey(key) ?? [])
    for (const key of await findOrphans(ctx.pool, found, ctx.tiers, ctx.legalHold)) {
      await objects.remove(key)
      total++
    }
    after = page.at(-1) ?? null
    if (after === null) break
  }
  if (total > 0) ctx.log.warn({ objects: total }, 'log_objects.orphaned')
  return total
}

// As `storeLog` makes them. Other objects are not ours.
function parseKey(key: string): PartObject | null {
  const [, workspace = '', day = '', partId = ''] =
    /^(ws_\w+)\/(\d{4}-\d\d-\d\d)\/([\da-f-]{36})\.jsonl\.gz$/.exec(key) ?? []
  const workspaceId = fromId('ws', workspace)
  return workspaceId === null ? null : { partId, workspaceId, day, key }
}
