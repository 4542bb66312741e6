import { publishEventBody, publishedEvent } from '../event.ts'
import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { subscriptionSecret } from '../secret.ts'
import {
  createSubscriptionBody,
  listSubscriptionsQuery,
  subscription,
  updateSubscriptionBody,
} from '../subscription.ts'

export const eventsOperations = {
  listSubscriptions: operation('GET', '/api/v1/scheduler/subscriptions', {
    right: 'subscription.read',
    summary: 'List subscriptions, newest first',
    client: 'subscriptions.list',
    query: listSubscriptionsQuery,
    answer: { status: 200, body: pageOf(subscription) },
  }),

  createSubscription: operation('POST', '/api/v1/scheduler/subscriptions', {
    right: 'subscription.write',
    summary: 'Subscribe a target to the events of some topics',
    client: 'subscriptions.create',
    body: createSubscriptionBody,
    answer: { status: 201, body: subscription },
    refusals: ['conflict', 'key_in_use'],
  }),

  getSubscription: operation('GET', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.read',
    summary: 'Get a subscription',
    client: 'subscriptions.get',
    answer: { status: 200, body: subscription },
  }),

  updateSubscription: operation('PATCH', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.write',
    summary: 'Change a subscription, for events published from then on',
    description: 'Omitted fields stay unchanged.',
    client: 'subscriptions.update',
    body: updateSubscriptionBody,
    answer: { status: 200, body: subscription },
    refusals: ['key_in_use', 'conflict'],
  }),

  deleteSubscription: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.delete',
    summary: 'Delete a subscription; events published before are still sent',
    client: 'subscriptions.delete',
    answer: { status: 204 },
  }),

  listSubscriptionSecrets: operation('GET', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.read',
    summary: 'List the signing secrets that a subscription has of its own, the current one first',
    description: 'Without any, the secrets of the workspace sign.',
    client: 'subscriptions.signingSecrets.list',
    answer: { status: 200, body: pageOf(subscriptionSecret) },
  }),

  rotateSubscriptionSecret: operation('POST', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.rotate',
    summary: 'Create a new signing secret of a subscription; the old one also signs for 24 hours',
    client: 'subscriptions.signingSecrets.rotate',
    answer: { status: 201, body: subscriptionSecret },
    refusals: ['conflict'],
  }),

  removeSubscriptionSecrets: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.revoke',
    summary: 'Remove the signing secrets of a subscription, so those of the workspace sign its calls',
    client: 'subscriptions.signingSecrets.remove',
    answer: { status: 204 },
  }),

  revokeSubscriptionSecret: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret', {
    right: 'signing_secret.revoke',
    summary: 'Revoke an old signing secret of a subscription at once',
    client: 'subscriptions.signingSecrets.revoke',
    answer: { status: 204 },
    refusals: ['conflict'],
  }),

  publishEvent: operation('POST', '/api/events', {
    right: 'event.publish',
    summary: 'Publish an event: call its target, or every matching subscription, at once',
    description: 'It is stored when the response arrives.',
    client: 'events.publish',
    body: publishEventBody,
    answer: { status: 202, body: publishedEvent },
    refusals: ['quota_exceeded', 'conflict'],
    isIdempotent: true,
  }),
}
