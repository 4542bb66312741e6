import { endGracePeriods as end, findOwners } from '@belfry/db'
import { tierMail } from '@belfry/messages'
import type { Context } from './context.ts'
import { storeMessage } from './store-alert.ts'

const batchSize = 50

/**
 * Puts organizations that have not paid within their grace period on the tier `free`, and mails their owners.
 * @returns How many there were.
 */
export async function endGracePeriods(ctx: Context, signal: AbortSignal): Promise<number> {
  let total = 0
  for (;;) {
    const taken = await end(ctx.pool, new Date(ctx.clock.now()), batchSize, async (tx, { organizationId, from }) => {
      const organization = await findOwners(tx, organizationId)
      for (const owner of organization?.owners ?? []) {
        const url = ctx.publicUrl && `${ctx.publicUrl}/${organization?.slug}/settings/usage`
        const facts = { organization: organization?.name ?? '', url, from, to: 'free', why: 'unpaid' } as const
        await storeMessage(tx, 'mail', 'tier changed', { type: 'mail', mail: tierMail(owner, facts) })
      }
    })
    total += taken
    if (taken < batchSize || signal.aborted) return total
  }
}
