import { z } from 'zod'
import { shownCallbacks } from './callback.ts'
import { connectionNameField } from './connection.ts'
import { changesOf, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { filterField, shownFilter } from './payload-filter.ts'
import { queueNameField } from './queue.ts'
import { idField, shownFlag, shownText, textOrNull, timeOrNull, timestampField } from './response-fields.ts'
import { retryChange } from './retry.ts'
import { authorFields, deliveryFields, requestFields, sentFields } from './task.ts'
import { controlFields, failingFields, newControlFields, objectKeyField, shownKeyField } from './task-controls.ts'
import { topicPattern } from './text-rules.ts'

const creation = {
  key: objectKeyField.optional(),
  topic: textField(topicPattern),
  filter: filterField.default(() => []),
  url: requestFields.url,
  headers: requestFields.headers,
  ...deliveryFields,
  active: z.boolean().default(true),
  ...newControlFields,
}

export const createSubscriptionBody = z.strictObject(creation)

/** The body that changes a subscription. Omitted fields stay unchanged, also within `retry`. */
export const updateSubscriptionBody = z.strictObject({
  ...changesOf(creation),
  key: objectKeyField.nullable().optional(),
  retry: retryChange.optional(),
})

const mcp = z
  .object({
    name: shownText('The type of the events.', 'task.dead'),
    arguments: z.record(z.string(), z.unknown()).meta({ description: 'What its client asked for.', examples: [{}] }),
    principal: textOrNull('Who subscribed at another MCP server. Null: the API key that created it.'),
  })
  .nullable()
  .meta({
    description: 'Of a subscription that an MCP client made, and renews before `expires_at`. Null for any other.',
  })

export const subscription = namedObject('Subscription', {
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
  active: shownFlag('Whether it receives events.', true),
  ...failingFields,
  expires_at: timeOrNull('When it ends unless its MCP client renews it; null for never.'),
  mcp,
  created_by: authorFields.created_by,
  created_at: timestampField(),
  updated_at: timestampField(),
})

export type Subscription = z.infer<typeof subscription>
