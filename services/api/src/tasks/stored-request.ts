import type { CreateTaskBody, UpdateTaskBody } from '@belfry/contract'
import type { StoredRequest } from '@belfry/db'
import { memberText } from '@belfry/domain'
import { queueNameOf } from '../queues/name-queue.ts'

type NewBody = Pick<CreateTaskBody, 'url' | 'method' | 'headers' | 'retry' | 'timeout_ms' | 'queue'>
type ChangedBody = Pick<UpdateTaskBody, 'url' | 'method' | 'headers' | 'retry' | 'timeout_ms' | 'queue'>

/** Returns the request of a new task or cron job. The payload is a slice of the body, so its bytes do not change. */
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
    queue: queueNameOf(body.queue) ?? null,
  }
}

/** Returns the changes of a request; fields that the body omits are undefined. */
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
    queue: queueNameOf(body.queue),
  }
}
