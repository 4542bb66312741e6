import type { ApiKey, NewApiKey } from '@belfry/contract/api-key'
import type { Connection, ConnectionTest } from '@belfry/contract/connection'
import type { FederatedCredential } from '@belfry/contract/federated-credential'
import type {
  CreateIntegrationBody,
  Integration,
  IntegrationTest,
  UpdateIntegrationBody,
} from '@belfry/contract/integration'
import type { Secret, SigningSecret } from '@belfry/contract/secret'
import type { Action } from '@belfry/domain/permissions'
import { call } from './call.ts'
import { patch, post, put, remove } from './operation.ts'
import { allOptions, listOptions } from './page.ts'

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

/** All connections of a workspace, which are few. */
export function connectionsQuery(workspaceId: string) {
  return allOptions<Connection>(['connections', workspaceId], `/api/v1/workspaces/${workspaceId}/connections`)
}

/** The settings of a connection. Omitted secrets stay as they are. */
export type ConnectionBody = { kind: Connection['kind']; hosts: string[] } & Record<string, unknown>

export const putConnection = put('/api/v1/workspaces/:ws/connections/:name')<Connection, ConnectionBody>
export const testConnection = post('/api/v1/workspaces/:ws/connections/:name/test')<ConnectionTest, { url?: string }>
export const deleteConnection = remove('/api/v1/workspaces/:ws/connections/:name')<void>

export function federatedCredentialsQuery(workspaceId: string) {
  const path = `/api/v1/workspaces/${workspaceId}/federated-credentials`
  return listOptions<FederatedCredential>(['federated-credentials', workspaceId], path)
}

type NewFederatedCredential = Pick<FederatedCredential, 'name' | 'issuer' | 'conditions' | 'scopes' | 'lifetime_ms'> & {
  audience?: string
}

export const createFederatedCredential = post('/api/v1/workspaces/:ws/federated-credentials')<
  FederatedCredential,
  NewFederatedCredential
>
export const deleteFederatedCredential = remove('/api/v1/workspaces/:ws/federated-credentials/:fed')<void>

export function integrationsQuery(workspaceId: string) {
  return listOptions<Integration>(['integrations', workspaceId], `/api/v1/workspaces/${workspaceId}/integrations`)
}

export const createIntegration = post('/api/v1/workspaces/:ws/integrations')<Integration, CreateIntegrationBody>
export const updateIntegration = patch('/api/v1/workspaces/:ws/integrations/:int')<Integration, UpdateIntegrationBody>
export const deleteIntegration = remove('/api/v1/workspaces/:ws/integrations/:int')<void>
export const testIntegration = post('/api/v1/workspaces/:ws/integrations/:int/test')<IntegrationTest>
export const confirmAlerts = post('/api/v1/integrations/confirm')<void, { token: string }>

export function unsubscribe(token: string): Promise<void> {
  return call('POST', '/api/v1/integrations/unsubscribe', { query: { token } })
}

export function secretsQuery(workspaceId: string) {
  return listOptions<Secret>(['secrets', workspaceId], `/api/v1/workspaces/${workspaceId}/secrets`, { limit: 100 })
}

/** `allowed_hosts`: the hosts that it may be sent to; null for every host. */
type SecretBody = { value: string; allowed_hosts: string[] | null }

export const putSecret = put('/api/v1/workspaces/:ws/secrets/:name')<Secret, SecretBody>
export const deleteSecret = remove('/api/v1/workspaces/:ws/secrets/:name')<void>

export function signingSecretsQuery(workspaceId: string) {
  const path = `/api/v1/workspaces/${workspaceId}/signing-secrets`
  return allOptions<SigningSecret>(['signing-secrets', workspaceId], path)
}

/** Creates a new secret. The current one keeps signing for another 24 hours. */
export const rotateSigningSecret = post('/api/v1/workspaces/:ws/signing-secrets')<SigningSecret>
export const revokeSigningSecret = remove('/api/v1/workspaces/:ws/signing-secrets/:secret')<void>
