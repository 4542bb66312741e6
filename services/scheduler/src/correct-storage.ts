import { correctStorage as correctOne } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

const dayMs = 86_400_000

/**
 * Counts the storage of each organization anew, once a day.
 * @returns How many organizations were counted.
 */
export async function correctStorage(ctx: Context, signal: AbortSignal): Promise<number> {
  for (let count = 0; ; count++) {
    const correction = signal.aborted ? null : await correctOne(ctx.pool, dayMs, signal)
    if (correction === null) return count
    const { organizationId, driftBytes } = correction
    if (driftBytes !== 0) ctx.log.info({ organization: toId('org', organizationId), driftBytes }, 'storage.corrected')
  }
}
