import { z } from 'zod'
import { callbackChanges, callbackFields, shownCallbacks } from './callback.ts'
import { connectionField, connectionNameField } from './connection.ts'
import { textField } from './fields.ts'
import { pageFields } from './page.ts'
import { filterField, shownFilter } from './payload-filter.ts'
import { queueField, queueNameField } from './queue.ts'
import { idField, timestampField } from './response-fields.ts'
import { retryChange, retryPolicy } from './retry.ts'
import { createTaskBody, sentFields } from './task.ts'
import {
  controlFields,
  failingFields,
  maxAgeField,
  newLabelsField,
  objectKeyField,
  shownKeyField,
} from './task-controls.ts'
import { topicPattern } from './text-rules.ts'

const taskBody = createTaskBody.shape

const fields = {
  topic: textField(topicPattern),
  url: taskBody.url,
  headers: taskBody.headers.unwrap(),
  timeout_ms: taskBody.timeout_ms.unwrap(),
  active: z.boolean(),
}

/** The body that creates a subscription of a target to topics. */
export const createSubscriptionBody = z.strictObject({
  key: objectKeyField.optional(),
  topic: fields.topic,
  filter: filterField.default(() => []),
  url: fields.url,
  headers: taskBody.headers,
  retry: retryPolicy,
  timeout_ms: taskBody.timeout_ms,
  queue: taskBody.queue,
  connection: taskBody.connection,
  active: fields.active.default(true),
  ...callbackFields,
  max_age_ms: maxAgeField.default(null),
  labels: newLabelsField.default(() => []),
})

export type CreateSubscriptionBody = z.infer<typeof createSubscriptionBody>

/** The body that changes a subscription. Omitted fields stay unchanged, also within `retry`. */
export const updateSubscriptionBody = z.strictObject({
  key: objectKeyField.nullable().optional(),
  topic: fields.topic.optional(),
  filter: filterField.optional(),
  url: fields.url.optional(),
  headers: fields.headers.optional(),
  retry: retryChange.optional(),
  timeout_ms: fields.timeout_ms.optional(),
  queue: queueField.nullable().optional(),
  connection: connectionField.optional(),
  active: fields.active.optional(),
  ...callbackChanges,
  max_age_ms: maxAgeField.optional(),
  labels: newLabelsField.optional(),
})

/** The query of the list of subscriptions. */
export const listSubscriptionsQuery = z.strictObject(pageFields)

/** A subscription in a response. */
export const subscription = z
  .object({
    id: idField('sub'),
    workspace_id: idField('ws'),
    key: shownKeyField,
    topic: z.string().meta({ examples: ['orders.*'] }),
    filter: shownFilter,
    url: sentFields.url,
    headers: sentFields.headers,
    retry: sentFields.retry,
    timeout_ms: sentFields.timeout_ms,
    queue: queueNameField,
    connection: connectionNameField,
    ...shownCallbacks,
    ...controlFields,
    active: z.boolean().meta({ description: 'Whether it receives events.', examples: [true] }),
    ...failingFields,
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Subscription' })

export type Subscription = z.infer<typeof subscription>
