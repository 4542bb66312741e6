import { checkSecretValue, secretValuePattern } from '@belfry/domain'
import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'
import { textField } from './fields.ts'
import { textRule } from './text-rules.ts'

const valueSchema = {
  minLength: 4,
  maxLength: 8192,
  pattern: secretValuePattern,
  description: 'The value; it never comes back.',
  examples: ['3f1c9a7e5b2d'],
}

const valueRule = textRule<string>(valueSchema, text => {
  const message = checkSecretValue(text)
  return message === null ? { value: text } : { code: 'invalid_secret_value', message }
})

/** What a reference says about the name of a secret. */
export const secretName = { pattern: '^[A-Z][A-Z0-9_]{0,63}$', examples: ['API_TOKEN'] }

/** The body that gives a secret its value. */
export const putSecretBody = z.strictObject({ value: textField(valueRule) })

export type PutSecretBody = z.infer<typeof putSecretBody>

export const secret = z
  .object({
    name: z.string().meta({ description: 'Requests refer to it as `{{ secrets.NAME }}`.', examples: ['API_TOKEN'] }),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Secret' })

/** A secret as every answer shows it, without its value. */
export type Secret = z.infer<typeof secret>

export const signingSecret = z
  .object({
    id: idField('sec'),
    workspace_id: idField('ws'),
    secret: z.string().meta({
      description: 'What receivers verify signatures with, as the libraries for Standard Webhooks take it.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    }),
    created_at: timestampField(),
    expires_at: timestampField()
      .nullable()
      .meta({ description: 'Until when it signs beside the current one; null for the current one.', examples: [null] }),
  })
  .meta({ id: 'SigningSecret' })

/** One of the secrets that a workspace's deliveries are signed with. */
export type SigningSecret = z.infer<typeof signingSecret>
