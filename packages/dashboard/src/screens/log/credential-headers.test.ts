import { expect, it } from 'vitest'
import { isCredentialHeader } from './run-content.tsx'

it.each([
  'set-cookie',
  'Authorization',
  'Authentication-Token',
  'x-api-key',
  'X-ApiKey',
  'x-amz-security-token',
  'Session-Id',
])('%s may hold a credential', name => expect(isCredentialHeader(name)).toBe(true))

it.each(['content-type', 'retry-after', 'x-ratelimit-remaining-tokens', 'www-authenticate', 'x-request-id', 'etag'])(
  '%s holds none',
  name => expect(isCredentialHeader(name)).toBe(false),
)
