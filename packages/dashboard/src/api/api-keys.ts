import type { ApiKey, NewApiKey } from '@belfry/contract'
import { call } from './call.ts'
import { listOptions } from './page.ts'

export function apiKeysQuery(workspaceId: string) {
  return listOptions<ApiKey>(['api-keys', workspaceId], `/api/v1/workspaces/${workspaceId}/api-keys`)
}

export function createApiKey(
  workspaceId: string,
  body: { name: string; expires_at?: string | null },
): Promise<NewApiKey> {
  return call('POST', `/api/v1/workspaces/${workspaceId}/api-keys`, { body })
}

export function revokeApiKey(workspaceId: string, keyId: string): Promise<void> {
  return call('DELETE', `/api/v1/workspaces/${workspaceId}/api-keys/${keyId}`)
}
