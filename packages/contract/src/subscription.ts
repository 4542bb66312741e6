import { z } from 'zod'
import { shownCallbacks } from './callback.ts'
import { connectionNameField } from './connection.ts'
import { changesOf, textField } from './fields.ts'
import { pageFields } from './page.ts'
import { filterField, shownFilter } from './payload-filter.ts'
import { queueNameField } from './queue.ts'
import { idField, timestampField } from './response-fields.ts'
import { retryChange } from './retry.ts'
import { deliveryFields, requestFields, sentFields } from './task.ts'
import {
  controlFields,
  failingFields,
  maxAgeField,
  newLabelsField,
  objectKeyField,
  shownKeyField,
} from './task-controls.ts'
import { topicPattern } from './text-rules.ts'

const creation = {
  key: objectKeyField.optional(),
  topic: textField(topicPattern),
  filter: filterField.default(() => []),
  url: requestFields.url,
  headers: requestFields.headers,
  ...deliveryFields,
  active: z.boolean().default(true),
  max_age_ms: maxAgeField.default(null),
  labels: newLabelsField.default(() => []),
}

/** The body that creates a subscription of a target to topics. */
export const createSubscriptionBody = z.strictObject(creation)

/** The body that changes a subscription. Omitted fields stay unchanged, also within `retry`. */
export const updateSubscriptionBody = z.strictObject({
  ...changesOf(creation),
  key: objectKeyField.nullable().optional(),
  retry: retryChange.optional(),
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
