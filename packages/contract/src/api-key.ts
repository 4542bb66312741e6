import { z } from 'zod'
import { textField } from './fields.ts'
import { idField, timestampField } from './response-fields.ts'
import { displayName, exampleTime, instant, textRule } from './text-rules.ts'

const dayMs = 86_400_000

/** Without `expires_at`, or with null, the key is valid until it is revoked. */
export const createApiKeyBody = z.strictObject({
  name: textField(displayName),
  expires_at: textField(textRule({ ...instant.schema, examples: [exampleTime(90 * dayMs)] }, instant))
    .nullable()
    .optional(),
})

const fields = {
  id: idField('key'),
  workspace_id: idField('ws'),
  name: z.string().meta({ examples: ['CI'] }),
  prefix: z.string().meta({
    description: 'The first characters of the key, to recognise it.',
    examples: ['bf_4kT9z'],
  }),
  scopes: z.array(z.string()).meta({
    description: 'The rights of the key, as in docs/permissions.md: those that its creator had. `full` stands for all.',
    examples: [['full']],
  }),
  created_by: idField('user'),
  created_at: timestampField(),
  last_used_at: timestampField().nullable(),
  expires_at: timestampField().nullable(),
  revoked_at: timestampField().nullable(),
}

export const apiKey = z.object(fields).meta({ id: 'ApiKey' })

export type ApiKey = z.infer<typeof apiKey>

/** The response to its creation, the only one with the key itself. */
export const newApiKey = z
  .object({
    ...fields,
    key: z.string().meta({
      description: 'The key itself, shown only once.',
      examples: ['bf_4kT9zQ1mXc7VbN2pLr8WsYd3HfGj5KaE0ZuPqi'],
    }),
  })
  .meta({ id: 'NewApiKey' })

export type NewApiKey = z.infer<typeof newApiKey>
