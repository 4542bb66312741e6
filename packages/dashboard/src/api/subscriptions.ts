import type { CreateSubscriptionBody, Subscription } from '@belfry/contract'
import { call } from './call.ts'
import { listOptions } from './page.ts'
import type { FlowBody } from './tasks.ts'

const base = '/api/v1/scheduler/subscriptions'

export type SubscriptionBody = Pick<CreateSubscriptionBody, 'topic' | 'url' | 'headers' | 'timeout_ms' | 'active'> & {
  retry: Partial<CreateSubscriptionBody['retry']>
} & FlowBody

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
