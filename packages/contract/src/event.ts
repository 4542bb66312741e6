import { z } from 'zod'
import { objectPayloadField, textField } from './fields.ts'
import { idField, shownText } from './response-fields.ts'
import { deliveryFields, requestFields, task } from './task.ts'
import { maxAgeField, newLabelsField } from './task-controls.ts'
import { targetUrl, topic } from './text-rules.ts'

/**
 * The body that publishes an event. Without `target_url` it goes to the matching subscriptions, which have their own retry
 * policies and timeouts. Its callbacks replace those of a subscription.
 */
export const publishEventBody = z.strictObject({
  topic: textField(topic),
  payload: objectPayloadField,
  target_url: textField(targetUrl).optional(),
  headers: requestFields.headers,
  ...deliveryFields,
  max_age_ms: maxAgeField.optional(),
  labels: newLabelsField.optional(),
})

export type PublishEventBody = z.infer<typeof publishEventBody>

/** The response to the publication of an event. */
export const publishedEvent = z
  .object({
    id: idField('evt'),
    topic: shownText('The topic.', 'orders.paid'),
    tasks: z.array(task).meta({ description: 'One task per target; none when no subscription matches.' }),
  })
  .meta({ id: 'PublishedEvent' })

/** The same for a caller without the right `task.read`. */
export const publishedEventBrief = z
  .object({ id: idField('evt'), topic: publishedEvent.shape.topic, tasks: z.array(z.object({ id: idField('task') })) })
  .meta({ id: 'PublishedEventBrief' })

export type PublishedEvent = z.infer<typeof publishedEvent>
