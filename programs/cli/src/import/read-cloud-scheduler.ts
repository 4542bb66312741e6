import { timeoutLimits } from '@belfry/domain/timeout'
import { z } from 'zod'
import { cronOfRate } from './cron-of-rate.ts'
import { type Entry, type Found, ImportRefusal, type Request, requestFields, type SourceFlags } from './entry.ts'
import { jsonEntries, targetUrlOf, textOfBase64 } from './json-entries.ts'

// Protocol buffers write durations as "5s" or "0.5s".
const milliseconds = z.string().transform(text => Math.round(Number(text.replace(/s$/, '')) * 1000))
const token = z.object({ serviceAccountEmail: z.string().default('its account') }).optional()
const request = { httpMethod: z.string().default('POST'), headers: z.record(z.string(), z.string()).default({}) }
const form = z.object({
  name: z.string(),
  schedule: z.string(),
  timeZone: z.string().default('UTC'),
  state: z.string().default('ENABLED'),
  attemptDeadline: milliseconds.optional(),
  httpTarget: z
    .object({ uri: z.string(), ...request, body: z.string().optional(), oidcToken: token, oauthToken: token })
    .optional(),
  appEngineHttpTarget: z
    .object({ relativeUri: z.string().default('/'), ...request, body: z.string().optional() })
    .optional(),
  pubsubTarget: z.object({ topicName: z.string(), data: z.string().optional() }).optional(),
  retryConfig: z
    .object({
      retryCount: z.int().default(0),
      minBackoffDuration: milliseconds.prefault('5s'),
      maxBackoffDuration: milliseconds.prefault('3600s'),
    })
    .prefault({}),
})
type Job = z.infer<typeof form>

/** Parses the output of `gcloud scheduler jobs list --format=json`. */
export function readCloudScheduler(text: string, { target }: SourceFlags): Entry[] {
  return jsonEntries(
    text,
    form,
    ({ name }) => name && shortName(String(name)),
    job => readJob(job, target),
  )
}

function shortName(name: string): string {
  return name.replace(/^.*\//, '')
}

function readJob(job: Job, targets: readonly string[] | undefined): Found {
  const { url, method, headers, base64, account } = requestOf(job, targets)
  const [, count, unit] = /^every (\d+) (minutes|mins|hours)$/i.exec(job.schedule) ?? []
  const rate = count && unit ? cronOfRate(Number(count), unit) : { cron: job.schedule, notes: [] }
  if (/^(every|\d+(st|nd|rd|th))\b/i.test(rate.cron))
    throw new ImportRefusal(`Write "${rate.cron}" as a cron expression.`)
  const { attemptDeadline: deadline = 0 } = job
  const { retryCount, minBackoffDuration: base_delay_ms, maxBackoffDuration: max_delay_ms } = job.retryConfig
  const kept = Object.entries(headers).filter(([, value]) => !/^(Google-Cloud-Scheduler|AppEngine-Google)/.test(value))
  const body = base64 === undefined ? null : textOfBase64(base64)
  return {
    job: {
      ...requestFields({ url, method, headers: Object.fromEntries(kept), body }),
      name: shortName(job.name),
      cron: rate.cron,
      timezone: job.timeZone,
      timeout_ms: deadline > 0 ? Math.min(deadline, timeoutLimits.max) : undefined,
      retry:
        retryCount === 0 ? { max_retries: 0 } : { max_retries: Math.min(20, retryCount), base_delay_ms, max_delay_ms },
      overlap: 'skip', // Cloud Scheduler never starts a job that is still running.
    },
    isPaused: job.state !== 'ENABLED' || account !== undefined,
    notes: [
      ...rate.notes,
      ...(deadline > timeoutLimits.max ? [`the maximum time of an attempt is ${timeoutLimits.max / 1000} s`] : []),
      ...(retryCount > 20 ? ['the maximum is 20 retries'] : []),
      ...(account ? [`the token of ${account} is not imported: set a connection, then resume the cron job`] : []),
    ],
  }
}

function requestOf(
  { httpTarget, appEngineHttpTarget, pubsubTarget }: Job,
  targets: readonly string[] | undefined,
): Omit<Request, 'body'> & { base64?: string | undefined; account?: string | undefined } {
  if (httpTarget) {
    const { uri: url, httpMethod: method, headers, body: base64, oidcToken, oauthToken } = httpTarget
    return { url, method, headers, base64, account: (oidcToken ?? oauthToken)?.serviceAccountEmail }
  }
  if (appEngineHttpTarget) {
    const { relativeUri, httpMethod: method, headers, body: base64 } = appEngineHttpTarget
    return { url: targetUrlOf('appengine', targets).replace(/\/$/, '') + relativeUri, method, headers, base64 }
  }
  const { topicName = 'nothing', data } = pubsubTarget ?? {}
  const headers = { 'Content-Type': 'application/octet-stream' }
  return { url: targetUrlOf(topicName, targets), method: 'POST', headers, base64: data }
}
