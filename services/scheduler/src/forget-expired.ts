import { forgetExpired as forgetBatch } from '@belfry/db'
import type { Context } from './context.ts'

/** Removes sessions and throttles that mean nothing any more. */
export async function forgetExpired(ctx: Context, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await forgetBatch(ctx.pool)) === 0) return
  }
}
