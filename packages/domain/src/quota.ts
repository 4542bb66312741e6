/** The quotas whose owners are notified. */
export type QuotaResource = 'executions' | 'storage'

/** The shares of a quota, in percent, at which owners are notified. */
export const quotaThresholds = [80, 100] as const

export type QuotaThreshold = (typeof quotaThresholds)[number]

/** Returns the UTC calendar month of an instant: `start` is included, `end` is not. */
export function billingPeriod(at: Date): { start: Date; end: Date } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) }
}
