import { requestBody } from '@belfry/domain/request-body'
import { checkJson } from './json-text.ts'
import { headersOf, type RequestDraft } from './request-draft.ts'

/** Facts outside of the draft that the headers depend on. */
export type RequestFacts = {
  /** Null before the task exists. */
  taskId: string | null
  scheduledAt: string | null
  /** Whether a cron job sends the request. */
  isCron?: boolean
}

/** Returns the request of the first attempt as text. Secrets stay references; unknown values are `<placeholders>`. */
export function requestText(draft: RequestDraft, { taskId, scheduledAt, isCron }: RequestFacts): string {
  const headers = headersOf(draft)
  const given = new Set(Object.keys(headers).map(name => name.toLowerCase()))
  const payload = draft.payload.trim()
  const isValid = payload !== '' && checkJson(payload) === null
  const body = isValid ? requestBody(payload, headers) : payload
  const type = payload === '' ? draft.rawBody?.content_type : 'application/json'
  const defaults = {
    'User-Agent': 'Belfry/<version>',
    Accept: '*/*',
    'Accept-Encoding': 'identity',
    ...(type ? { 'Content-Type': type } : {}),
  }
  const id = taskId ?? '<task id>'
  const lines = Object.entries({
    ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !given.has(name.toLowerCase()))),
    ...headers,
    'X-Belfry-Task-Id': id,
    'X-Belfry-Run-Id': '<run id>',
    'X-Belfry-Attempt': '1',
    'X-Belfry-Scheduled-At': scheduledAt ?? '<time>',
    'X-Belfry-Depth': '1.<signature>',
    ...(isCron ? { 'X-Belfry-Cronjob-Id': '<cron job id>' } : {}),
    'webhook-id': id,
    'webhook-timestamp': '<time of the run>',
    'webhook-signature': 'v1,<signature>',
  }).map(([name, value]) => `${name}: ${value}`)
  return [`${draft.method} ${draft.url.trim() || '<url>'}`, ...lines, ...contentLines(body, draft)].join('\n')
}

function contentLines(body: string, { rawBody }: RequestDraft): string[] {
  if (body !== '') return ['', body]
  return rawBody ? ['', `<${atob(rawBody.payload_base64).length} bytes>`] : []
}
