import { requestBody } from '@belfry/domain/request-body'
import { checkJson } from './json-text.ts'
import { headersOf, type RequestDraft } from './request-draft.ts'

/** What else decides the headers of a request. */
export type RequestFacts = {
  /** Null while it is not known. */
  taskId: string | null
  scheduledAt: Date | null
  /** Whether it is sent for a cron job. */
  isCron?: boolean
}

/** The request of the first attempt as it will be written. Secrets stay references; what is not known yet is `<named>`. */
export function previewRequest(draft: RequestDraft, { taskId, scheduledAt, isCron }: RequestFacts): string {
  const headers = headersOf(draft)
  const given = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const payload = draft.payload.trim()
  const isFine = payload !== '' && checkJson(payload) === null
  const body = isFine ? requestBody(payload, headers) : payload
  const defaults = {
    'User-Agent': 'Belfry/<version>',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    ...(payload === '' ? {} : { 'Content-Type': 'application/json' }),
  }
  const id = taskId ?? '<task id>'
  const lines = Object.entries({
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !given.has(name.toLowerCase()))),
    ...headers,
    'X-Belfry-Task-Id': id,
    'X-Belfry-Run-Id': '<run id>',
    'X-Belfry-Attempt': '1',
    'X-Belfry-Scheduled-At': scheduledAt?.toISOString() ?? '<time>',
    ...(isCron ? { 'X-Belfry-Cronjob-Id': '<cron job id>' } : {}),
    'webhook-id': id,
    'webhook-timestamp': '<time of the attempt>',
    'webhook-signature': 'v1,<signature>',
  }).map(([name, value]) => `${name}: ${value}`)
  return [`${draft.method} ${draft.url.trim() || '<url>'}`, ...lines, ...(body === '' ? [] : ['', body])].join('\n')
}
