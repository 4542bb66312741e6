import { consumeAttempt, type Db, type NewTask } from '@belfry/db'
import { AppError } from '@belfry/domain'
import type { Quota } from '../quotas/quotas.ts'

const minuteMs = 60_000

type FanOut = { organizationId: string; tasks: ReadonlyArray<Pick<NewTask, 'depth'>> }

/**
 * Counts the tasks of one event beyond its first, and all tasks that a target creates while Belfry calls it. Each of these
 * may lead to as many again, so an organization may create a limited number in a minute. Costs nothing for other tasks.
 * @throws AppError `rate_limited`.
 */
export async function spendFanOut(db: Db, quota: Quota, { organizationId, tasks }: FanOut): Promise<void> {
  const count = isChained(tasks) ? tasks.length : tasks.length - 1
  if (count > 0) await spend(db, quota, organizationId, count)
}

/** Counts tasks that a target creates while Belfry calls it, and no others. Throws `rate_limited`. */
export async function spendChained(db: Db, quota: Quota, { organizationId, tasks }: FanOut): Promise<void> {
  if (isChained(tasks)) await spend(db, quota, organizationId, tasks.length)
}

function isChained([first]: FanOut['tasks']): boolean {
  return (first?.depth ?? 0) > 0
}

async function spend(db: Db, { limits }: Quota, organizationId: string, count: number): Promise<void> {
  const { fanOut } = limits
  if (fanOut === Number.POSITIVE_INFINITY) return
  const throttle = { burst: fanOut, everyMs: minuteMs / fanOut }
  const waitMs = await consumeAttempt(db, `fan-out of ${organizationId}`, throttle, count)
  if (waitMs === 0) return
  const message = `Events with several subscriptions, and targets that Belfry calls, may create ${fanOut} tasks a minute in this tier. Try again later, or choose a higher tier.`
  throw new AppError('rate_limited', message, { retryAfterMs: waitMs })
}
