import { z } from 'zod'
import { objectPayloadField, textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, shownText } from './response-fields.ts'
import { subscriptionSecret } from './secret.ts'
import { createSubscriptionBody, subscription, updateSubscriptionBody } from './subscription.ts'
import { deliveryFields, requestFields, task } from './task.ts'
import { eventControlFields } from './task-controls.ts'
import { targetUrl, topic } from './text-rules.ts'

/**
 * The body that publishes an event. Without `target_url` it goes to the matching subscriptions. Each subscription has its
 * own retry policy and timeout. The callbacks of the event replace the callbacks of a subscription.
 */
export const publishEventBody = z.strictObject({
  topic: textField(topic),
  payload: objectPayloadField,
  target_url: textField(targetUrl).optional().meta({
    description:
      'The one URL to call, instead of the subscriptions: absolute, http or https, without user, password or fragment; may hold `{{ secrets.NAME }}`.',
  }),
  headers: requestFields.headers,
  ...deliveryFields,
  ...eventControlFields,
})

export type PublishEventBody = z.infer<typeof publishEventBody>

export const publishedEvent = namedObject('PublishedEvent', {
  id: idField('evt'),
  topic: shownText('The topic.', 'orders.paid'),
  tasks: z.array(task).meta({ description: 'One task per target; none when no subscription matches.' }),
})

/** The same for a caller without the right `task.read`. */
export const publishedEventBrief = namedObject('PublishedEventBrief', {
  id: idField('evt'),
  topic: publishedEvent.shape.topic,
  tasks: listOf({ id: idField('task') }),
})

export type PublishedEvent = z.infer<typeof publishedEvent>

export const eventsOperations = {
  listSubscriptions: operation('GET', '/api/v1/scheduler/subscriptions', {
    right: 'subscription.read',
    summary: 'List subscriptions, newest first',
    client: 'subscriptions.list',
    query: listQuery,
    response: { status: 200, body: pageOf(subscription) },
  }),

  createSubscription: operation('POST', '/api/v1/scheduler/subscriptions', {
    right: 'subscription.write',
    summary: 'Subscribe a target to the events of some topics',
    client: 'subscriptions.create',
    body: createSubscriptionBody,
    response: { status: 201, body: subscription },
    errors: ['conflict', 'key_in_use'],
  }),

  getSubscription: operation('GET', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.read',
    summary: 'Get a subscription',
    client: 'subscriptions.get',
    response: { status: 200, body: subscription },
  }),

  updateSubscription: operation('PATCH', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.write',
    summary: 'Change a subscription, for events published from then on',
    description: 'Omitted fields stay unchanged.',
    client: 'subscriptions.update',
    body: updateSubscriptionBody,
    response: { status: 200, body: subscription },
    errors: ['key_in_use', 'conflict'],
  }),

  deleteSubscription: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub', {
    right: 'subscription.delete',
    summary: 'Delete a subscription; events published before are still sent',
    client: 'subscriptions.delete',
  }),

  listSubscriptionSecrets: operation('GET', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.read',
    summary: 'List the signing secrets that a subscription has of its own, the current one first',
    description: 'Without any, the secrets of the workspace sign.',
    client: 'subscriptions.signingSecrets.list',
    response: { status: 200, body: pageOf(subscriptionSecret) },
  }),

  rotateSubscriptionSecret: operation('POST', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.rotate',
    summary: 'Create a new signing secret of a subscription; the old one also signs for 24 hours',
    client: 'subscriptions.signingSecrets.rotate',
    response: { status: 201, body: subscriptionSecret },
    errors: ['conflict'],
  }),

  removeSubscriptionSecrets: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub/signing-secrets', {
    right: 'signing_secret.revoke',
    summary: 'Remove the signing secrets of a subscription, so those of the workspace sign its calls',
    client: 'subscriptions.signingSecrets.remove',
  }),

  revokeSubscriptionSecret: operation('DELETE', '/api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret', {
    right: 'signing_secret.revoke',
    summary: 'Revoke an old signing secret of a subscription at once',
    client: 'subscriptions.signingSecrets.revoke',
    errors: ['conflict'],
  }),

  publishEvent: operation('POST', '/api/events', {
    right: 'event.publish',
    summary: 'Publish an event: call its target, or every matching subscription, at once',
    description: 'It is stored when the response arrives.',
    client: 'events.publish',
    body: publishEventBody,
    response: { status: 202, body: publishedEvent },
    errors: ['quota_exceeded', 'conflict'],
    isIdempotent: true,
  }),
}
