import type { Secret, SigningSecret } from '@belfry/contract/secret'
import { post, put, remove } from './operation.ts'
import { allOptions, listOptions } from './page.ts'

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
