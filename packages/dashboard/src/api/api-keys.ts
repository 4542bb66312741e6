import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import type { Action } from '@belfry/domain/permissions'
import { post, remove } from './operation.ts'
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

export const createApiKey = post('/api/v1/workspaces/:ws/api-keys')<NewApiKey, NewKeyBody>

/** Replaces a key by a new one with the same rights. The previous one stays valid for `overlap_ms`. */
export const rollApiKey = post('/api/v1/workspaces/:ws/api-keys/:key/roll')<NewApiKey, { overlap_ms: number }>

export const revokeApiKey = remove('/api/v1/workspaces/:ws/api-keys/:key')<void>
