import { type AppErrorCode, appErrorCodes, rights } from '@belfry/domain'
import type { Endpoint } from '../http/endpoint.ts'

type Asked = Pick<Endpoint, 'right' | 'params' | 'query' | 'body' | 'refusals' | 'isIdempotent'>

const ofEveryRequest = ['bad_request', 'request_timeout', 'expectation_failed', 'headers_too_large'] as const
const ofBodies = ['malformed_json', 'validation_failed', 'payload_too_large', 'unsupported_media_type'] as const

/** Every code that an endpoint can refuse with, in the order of the published list. */
export function refusalsOf({ right, params, query, body, refusals, isIdempotent }: Asked): AppErrorCode[] {
  const possible = new Set<AppErrorCode>([...refusals, ...ofEveryRequest, 'rate_limited', 'internal', 'unavailable'])
  if (right !== 'public') possible.add('unauthenticated').add('forbidden')
  if (Object.keys(params).length > 0 || isInWorkspace(right)) possible.add('not_found')
  if (query) possible.add('validation_failed')
  if (body) for (const code of ofBodies) possible.add(code)
  if (isIdempotent) possible.add('validation_failed').add('idempotency_key_reused').add('idempotency_in_progress')
  return appErrorCodes.filter(code => possible.has(code))
}

/** Whether a right is asked for in one workspace, which a session has to name. */
export function isInWorkspace(right: Endpoint['right']): boolean {
  return right !== 'public' && right !== 'signed_in' && rights[right].scope === 'workspace'
}
