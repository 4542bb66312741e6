import type { FederatedCredential } from '@belfry/contract/federated-credential'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const base = (workspaceId: string) => `/api/v1/workspaces/${workspaceId}/federated-credentials`

export function federatedCredentialsQuery(workspaceId: string) {
  return listOptions<FederatedCredential>(['federated-credentials', workspaceId], base(workspaceId))
}

export type NewFederatedCredential = Pick<
  FederatedCredential,
  'name' | 'issuer' | 'conditions' | 'scopes' | 'lifetime_ms'
> & { audience?: string }

export function createFederatedCredential(
  workspaceId: string,
  body: NewFederatedCredential,
): Promise<FederatedCredential> {
  return call('POST', base(workspaceId), { body })
}

export function deleteFederatedCredential(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${base(workspaceId)}/${id}`)
}
