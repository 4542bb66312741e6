import { AppError, figureNames, type TierLimits } from '@belfry/domain'
import { type LimitContext, limitOf } from './limit-of.ts'

const owners = {
  pendingTasks: 'workspace',
  cronJobs: 'workspace',
  apiKeys: 'workspace',
  secrets: 'workspace',
  members: 'organization',
  invitations: 'organization',
} as const satisfies Partial<Record<keyof TierLimits, string>>

/** What there may be only so many of. */
export type CountedFigure = keyof typeof owners

/**
 * Refuses more of what there may be only so many of. Exact when `count` is asked under a lock that holds until the
 * creation is committed.
 * @throws AppError `quota_exceeded`
 */
export async function refuseOverCount(
  ctx: LimitContext,
  organizationId: string,
  figure: CountedFigure,
  count: () => Promise<number>,
  wanted = 1,
): Promise<void> {
  const limit = await limitOf(ctx, organizationId, figure)
  if ((await count()) + wanted > limit) throw overCount(figure, limit)
}

/** The refusal for one more than there may be. */
export function overCount(figure: CountedFigure, limit: number): AppError {
  const name = figureNames[figure].replace('_', ' ')
  const message = `Of ${name} the tier allows ${limit} in one ${owners[figure]}. Remove some, or choose a higher tier.`
  return new AppError('quota_exceeded', message)
}
