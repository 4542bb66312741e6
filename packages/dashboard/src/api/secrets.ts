import type { Page } from '@belfry/contract/page'
import type { Secret, SigningSecret } from '@belfry/contract/secret'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const base = (workspaceId: string) => `/api/v1/workspaces/${workspaceId}`

export function secretsQuery(workspaceId: string) {
  return listOptions<Secret>(['secrets', workspaceId], `${base(workspaceId)}/secrets`, { limit: 100 })
}

/** @param allowedHosts - The hosts that it may be sent to; null for every host. */
export function putSecret(
  workspaceId: string,
  name: string,
  value: string,
  allowedHosts: string[] | null,
): Promise<Secret> {
  const body = { value, allowed_hosts: allowedHosts }
  return call('PUT', `${base(workspaceId)}/secrets/${encodeURIComponent(name)}`, { body })
}

export function deleteSecret(workspaceId: string, name: string): Promise<void> {
  return call('DELETE', `${base(workspaceId)}/secrets/${name}`)
}

export function signingSecretsQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['signing-secrets', workspaceId],
    async queryFn({ signal }) {
      const page: Page<SigningSecret> = await call('GET', `${base(workspaceId)}/signing-secrets`, { signal })
      return page.data
    },
  })
}

/** Creates a new secret. The current one keeps signing for another 24 hours. */
export function rotateSigningSecret(workspaceId: string): Promise<SigningSecret> {
  return call('POST', `${base(workspaceId)}/signing-secrets`)
}

export function revokeSigningSecret(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${base(workspaceId)}/signing-secrets/${id}`)
}
