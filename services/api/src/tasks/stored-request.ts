import type { CreateTaskBody, UpdateTaskBody } from '@belfry/contract'
import type { StoredRequest } from '@belfry/db'
import { memberText } from '@belfry/domain'

type NewBody = Pick<CreateTaskBody, 'url' | 'method' | 'headers' | 'retry' | 'timeout_ms'>
type ChangedBody = Pick<UpdateTaskBody, 'url' | 'method' | 'headers' | 'retry' | 'timeout_ms'>

/** What a new task or cron job sends. The payload is a slice of the body, so that its bytes stay as they came. */
export function toStoredRequest(body: NewBody, bodyText: string): StoredRequest {
  return {
    url: body.url,
    method: body.method,
    headers: JSON.stringify(body.headers),
    payload: memberText(bodyText, ['payload']) ?? null,
    maxRetries: body.retry.max_retries,
    backoff: body.retry.backoff,
    baseDelayMs: body.retry.base_delay_ms,
    maxDelayMs: body.retry.max_delay_ms,
    timeoutMs: body.timeout_ms,
  }
}

/** What a change says about it; a field that was left out is undefined. */
export function toRequestChange(body: ChangedBody, bodyText: string) {
  return {
    url: body.url,
    method: body.method,
    headers: body.headers && JSON.stringify(body.headers),
    payload: memberText(bodyText, ['payload']),
    maxRetries: body.retry?.max_retries,
    backoff: body.retry?.backoff,
    baseDelayMs: body.retry?.base_delay_ms,
    maxDelayMs: body.retry?.max_delay_ms,
    timeoutMs: body.timeout_ms,
  }
}
