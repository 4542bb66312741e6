import type { PublishedEvent } from '@belfry/contract/event'
import type { SubscriptionSecret } from '@belfry/contract/secret'
import type { CreateSubscriptionBody, Subscription } from '@belfry/contract/subscription'
import { call } from './call.ts'
import { patch, post, remove } from './operation.ts'
import { allOptions, listOptions } from './page.ts'
import type { FlowBody } from './tasks.ts'

export type NewEvent = { topic: string; payload: object; target_url?: string } & Partial<FlowBody>

export function publishEvent(workspaceId: string, body: NewEvent): Promise<PublishedEvent> {
  return call('POST', '/api/events', { body, workspaceId, idempotencyKey: crypto.randomUUID() })
}

const subscriptionsPath = '/api/v1/scheduler/subscriptions'

export type SubscriptionBody = Pick<
  CreateSubscriptionBody,
  'topic' | 'filter' | 'url' | 'headers' | 'retry' | 'timeout_ms'
> &
  Partial<Pick<CreateSubscriptionBody, 'active'>> &
  FlowBody

export function subscriptionsQuery(workspaceId: string) {
  return listOptions<Subscription>(['subscriptions', workspaceId], subscriptionsPath, { limit: 100 }, workspaceId)
}

export const createSubscription = post('/api/v1/scheduler/subscriptions')<Subscription, SubscriptionBody>
export const updateSubscription = patch('/api/v1/scheduler/subscriptions/:sub')<Subscription, Partial<SubscriptionBody>>
export const deleteSubscription = remove('/api/v1/scheduler/subscriptions/:sub')<void>

export function subscriptionSecretsQuery(workspaceId: string, id: string) {
  return allOptions<SubscriptionSecret>(
    ['subscription-secrets', id],
    `${subscriptionsPath}/${id}/signing-secrets`,
    workspaceId,
  )
}

/** Creates the first or a new secret. The current one keeps signing for another 24 hours. */
export const rotateSubscriptionSecret = post('/api/v1/scheduler/subscriptions/:sub/signing-secrets')<SubscriptionSecret>
export const removeSubscriptionSecrets = remove('/api/v1/scheduler/subscriptions/:sub/signing-secrets')<void>
