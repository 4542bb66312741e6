import type { Page } from '@belfry/contract/page'
import type { SubscriptionSecret } from '@belfry/contract/secret'
import type { CreateSubscriptionBody, Subscription } from '@belfry/contract/subscription'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listOptions } from './page.ts'
import type { FlowBody } from './tasks.ts'

const base = '/api/v1/scheduler/subscriptions'

export type SubscriptionBody = Pick<
  CreateSubscriptionBody,
  'topic' | 'url' | 'headers' | 'retry' | 'timeout_ms' | 'active'
> &
  FlowBody

export function subscriptionsQuery(workspaceId: string) {
  return listOptions<Subscription>(['subscriptions', workspaceId], base, { limit: 100 }, workspaceId)
}

export function createSubscription(workspaceId: string, body: SubscriptionBody): Promise<Subscription> {
  return call('POST', base, { body, workspaceId })
}

export function updateSubscription(
  workspaceId: string,
  id: string,
  body: Partial<SubscriptionBody>,
): Promise<Subscription> {
  return call('PATCH', `${base}/${id}`, { body, workspaceId })
}

export function deleteSubscription(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${base}/${id}`, { workspaceId })
}

export function subscriptionSecretsQuery(workspaceId: string, id: string) {
  return queryOptions({
    queryKey: ['subscription-secrets', id],
    async queryFn({ signal }) {
      const page: Page<SubscriptionSecret> = await call('GET', `${base}/${id}/signing-secrets`, { workspaceId, signal })
      return page.data
    },
  })
}

/** Creates the first or a new secret. The current one keeps signing for another 24 hours. */
export function rotateSubscriptionSecret(workspaceId: string, id: string): Promise<SubscriptionSecret> {
  return call('POST', `${base}/${id}/signing-secrets`, { workspaceId })
}

export function removeSubscriptionSecrets(workspaceId: string, id: string): Promise<void> {
  return call('DELETE', `${base}/${id}/signing-secrets`, { workspaceId })
}
