import { recordAccountEntry } from '@belfry/db/account-log'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { consumeAttempt } from '@belfry/db/throttle'
import type { Context } from '../context.ts'

// A stranger with many addresses can fail more often than a person can read.
const failures = { burst: 10, everyMs: 300_000 }

/**
 * Logs a failed sign-in to an account: ten at once, and then one in five minutes. The caller does not wait, so the time of
 * its response does not reveal whether the account exists.
 */
export function recordFailedSignIn(ctx: Context, userId: string, address: string): void {
  const record = async () => {
    if ((await consumeAttempt(ctx.pool, `log of failures of ${userId}`, failures)) > 0) return
    await inTransaction(ctx.pool, tx => recordAccountEntry(tx, { userId, action: 'sign_in_failed', address }))
  }
  record().catch(error => ctx.log.warn({ err: error }, 'account.not_logged'))
}
