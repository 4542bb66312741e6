import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import type { Action } from '@belfry/domain/permissions'
import { call } from './call.ts'
import { listOptions } from './page.ts'

export function apiKeysQuery(workspaceId: string) {
  return listOptions<ApiKey>(['api-keys', workspaceId], `/api/v1/workspaces/${workspaceId}/api-keys`)
}

export type NewKeyBody = {
  name: string
  expires_at?: string | null
  scopes?: Array<'full' | 'read' | 'publish' | Action>
  allowed_ranges?: string[]
}

export function createApiKey(workspaceId: string, body: NewKeyBody): Promise<NewApiKey> {
  return call('POST', `/api/v1/workspaces/${workspaceId}/api-keys`, { body })
}

/** Replaces a key by a new one with the same rights. The previous one stays valid for `overlap_ms`. */
export function rollApiKey(workspaceId: string, keyId: string, body: { overlap_ms: number }): Promise<NewApiKey> {
  return call('POST', `/api/v1/workspaces/${workspaceId}/api-keys/${keyId}/roll`, { body })
}

export function revokeApiKey(workspaceId: string, keyId: string): Promise<void> {
  return call('DELETE', `/api/v1/workspaces/${workspaceId}/api-keys/${keyId}`)
}
