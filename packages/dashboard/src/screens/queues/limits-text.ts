import type { Queue } from '@belfry/contract'
import { formatCount } from '../../ui/format-amount.ts'
import { formatDuration } from '../../ui/format-time.ts'

/** Returns the limits of a queue in words. */
export function limitsText({
  max_concurrent: max,
  rate_limit: rate,
  ordered,
}: Pick<Queue, 'max_concurrent' | 'rate_limit' | 'ordered'>): string {
  const limits = [
    ...(max === null ? [] : [`${formatCount(max)} at a time`]),
    ...(rate === null ? [] : [`${formatCount(rate.count)} per ${formatDuration(rate.period_ms)}`]),
    ...(ordered ? ['In order'] : []),
  ]
  return limits.join(', ') || 'None'
}
