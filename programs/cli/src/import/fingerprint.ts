import { type CronJob, parseJson } from '@belfry/client'
import { digest } from '../digest.ts'
import type { PlannedJob } from './planned-job.ts'

/** Returns a fingerprint that equal planned and existing cron jobs share. */
export function fingerprintOf(job: PlannedJob): string {
  const { name, targetUrl, method, cron, timezone, headers = {}, payload } = job
  const value = typeof payload === 'string' ? parseJson(payload) : payload
  return digest([name, targetUrl, method, cron, timezone, headers, value ?? null])
}

/** Returns the fingerprint of an existing cron job. */
export function fingerprintOfExisting(job: CronJob): string {
  const { name, url, method, cron, timezone, headers, payload } = job
  return digest([name, url, method, cron, timezone, headers, payload ?? null])
}
