import { billingPeriod } from '@belfry/domain/quota'
import { type Quota, refuseOverQuota } from '../../quotas/quotas.ts'
import { QstashError } from '../qstash-error.ts'

/**
 * Rejects a message that the tier of the organization does not allow. A used-up allowance of executions is a 429 with the
 * headers of QStash's daily limit.
 * @throws QstashError, or AppError `quota_exceeded`.
 */
export function refuseUnpublishable(quota: Quota, body: Buffer, isDueNow: boolean): void {
  const { limits, used } = quota
  if (body.length > limits.payloadBytes) {
    throw new QstashError(413, `the body has ${body.length} bytes; at most ${limits.payloadBytes} are allowed`)
  }
  if (isDueNow && used.executions >= limits.executions) {
    throw new QstashError(
      429,
      `the organization has used the ${limits.executions} executions of its tier for this month`,
      {
        'RateLimit-Limit': String(limits.executions),
        'RateLimit-Remaining': '0',
        'RateLimit-Reset': String(billingPeriod(new Date()).end.getTime() / 1000),
      },
    )
  }
  refuseOverQuota(quota, 'later')
}
