import type { FederatedCredential } from '@belfry/contract/federated-credential'
import { post, remove } from './operation.ts'
import { listOptions } from './page.ts'

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
