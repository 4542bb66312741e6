/** What owners are told of when much of it is used. */
export type QuotaResource = 'executions' | 'storage'

/** The shares of a quota, in percent, at which owners are told. */
export const quotaThresholds = [80, 100] as const

export type QuotaThreshold = (typeof quotaThresholds)[number]

/** What an organization uses of its tier. */
export type QuotaUse = {
  executions: { used: number; limit: number }
  storageBytes: { used: number; limit: number }
}

/** The calendar month of UTC that an instant lies in: from `start` on, before `end`. */
export function billingPeriod(at: Date): { start: Date; end: Date } {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()]
  return { start: new Date(Date.UTC(year, month)), end: new Date(Date.UTC(year, month + 1)) }
}

/** Which quotas leave no room for another task: executions count when the task is to start at once. */
export function exhaustedQuotas(use: QuotaUse): QuotaResource[] {
  const exhausted: QuotaResource[] = []
  if (use.executions.used >= use.executions.limit) exhausted.push('executions')
  if (use.storageBytes.used > use.storageBytes.limit) exhausted.push('storage')
  return exhausted
}
