import { createHash } from 'node:crypto'
import type { CronJob } from '@belfry/client'
import type { PlannedJob } from './planned-job.ts'

/** Returns a fingerprint that equal planned and existing cron jobs share. */
export function fingerprintOf(job: PlannedJob): string {
  const { name, targetUrl, method, cron, timezone, headers = {}, payload } = job
  const value = typeof payload === 'string' ? JSON.parse(payload) : payload
  return digest([name, targetUrl, method, cron, timezone, headers, value ?? null])
}

/** Returns the fingerprint of an existing cron job. */
export function fingerprintOfExisting(job: CronJob): string {
  const { name, url, method, cron, timezone, headers, payload } = job
  return digest([name, url, method, cron, timezone, headers, payload ?? null])
}

/** Returns a digest of values that does not depend on the order of their members. */
export function digest(parts: readonly unknown[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map(sorted)))
    .digest('hex')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
