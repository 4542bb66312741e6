import type { ApiKey } from '@belfry/contract/api-key'

/** Returns whether an API key no longer works: it was revoked, or has expired. */
export function isKeyOver({ revoked_at, expires_at }: Pick<ApiKey, 'revoked_at' | 'expires_at'>): boolean {
  return revoked_at !== null || (expires_at !== null && new Date(expires_at) <= new Date())
}
