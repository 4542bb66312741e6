import { returnUnspentBlocks as returnBlocks } from '@belfry/db'
import type { Context } from './context.ts'

// One statement locks so many organizations at most.
const batchSize = 500

/**
 * Returns the unspent executions of dispatchers that are gone and of past months.
 * @returns How many blocks were returned.
 */
export async function returnUnspentBlocks(ctx: Context, signal: AbortSignal): Promise<number> {
  let returned = 0
  while (!signal.aborted) {
    const blocks = await returnBlocks(ctx.pool, batchSize)
    if (blocks === 0) break
    returned += blocks
  }
  if (returned > 0) ctx.log.info({ blocks: returned }, 'executions.returned')
  return returned
}
