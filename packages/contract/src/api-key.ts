import { parseCidrs } from '@belfry/domain/address'
import { keyRights, keyScopes } from '@belfry/domain/permissions'
import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, orNull, shownText, shownTexts, textOrNull, timestampField } from './response-fields.ts'
import { displayName, exampleTime, instant, textRule } from './text-rules.ts'

const dayMs = 86_400_000

/** What an API key may be limited to: the names of groups of rights, and single rights. */
const scopeNames = [...(Object.keys(keyScopes) as Array<keyof typeof keyScopes>), ...keyRights]

export const scopesField = z
  .array(z.enum(scopeNames))
  .min(1)
  .max(scopeNames.length)
  .meta({
    description:
      'The rights of the key, at most those of the user who creates it. `full`: all. `read`: read everything except signing secrets. `publish`: create tasks and publish events. Or single rights of docs/permissions.md.',
    examples: [['publish']],
  })

const cidr = textRule({ maxLength: 50, examples: ['192.0.2.0/24'] }, text => {
  try {
    if (text !== '' && !text.includes(',') && parseCidrs(text).length === 1) return { value: text }
  } catch {
    // reported below
  }
  return { code: 'invalid_range', must: 'be a range such as 192.0.2.0/24, with zero bits beyond the prefix' }
})

const rangesField = z
  .array(textField(cidr))
  .max(50)
  .meta({
    description:
      'Up to 50 address ranges (CIDR) that the key may be used from; a call from elsewhere gets 403. Empty: all.',
    examples: [['192.0.2.0/24']],
  })

const expiry = () => textField(textRule({ ...instant.schema, examples: [exampleTime(90 * dayMs)] }, instant))

/**
 * With null, the key is valid until it is revoked. Without `expires_at` too, unless the organization has `max_api_key_days`: then
 * for that long.
 */
export const createApiKeyBody = z.strictObject({
  name: textField(displayName),
  expires_at: expiry().nullable().optional().meta({
    description:
      'When it stops being valid. Null: when it is revoked. The `max_api_key_days` of the organization is the default and the maximum; without it, the default is null.',
  }),
  scopes: scopesField.optional(),
  allowed_ranges: rangesField.optional(),
})

export type CreateApiKeyBody = z.infer<typeof createApiKeyBody>

const rollApiKeyBody = z.strictObject({
  overlap_ms: integer(0, 30 * dayMs)
    .optional()
    .meta({
      description:
        'How long the previous key stays valid, 0 to 2,592,000,000 ms (30 days): by default a day. 0 revokes it.',
      examples: [dayMs],
    }),
  expires_at: expiry().nullable().optional().meta({
    description:
      'When the new key stops being valid. Null: when it is revoked. Default: after the time for which the previous key was valid.',
  }),
})

const fields = {
  id: idField('key'),
  workspace_id: idField('ws'),
  name: z.string().meta({ examples: ['CI'] }),
  prefix: shownText('The first characters of the key, to recognise it.', 'bf_4kT9z'),
  scopes: shownTexts(
    'The rights of the key: `full`, `read`, `publish` or single rights of docs/permissions.md. Never more than its creator had.',
    ['full'],
  ),
  allowed_ranges: shownTexts('The address ranges that the key may be used from. Empty: all.', ['192.0.2.0/24']),
  federated_credential_id: orNull(idField('fed'), {
    description:
      'The federated credential that a job exchanged its token with for this key. Null: a user created the key.',
  }),
  subject: textOrNull('The `sub` of that token.', 'repo:acme/app:ref:refs/heads/main'),
  created_by: idField('user').meta({ description: 'The user who created the key or its federated credential.' }),
  created_at: timestampField(),
  last_used_at: timestampField().nullable(),
  last_used_address: textOrNull('The IP address of a recent use.', '192.0.2.7'),
  expires_at: timestampField().nullable(),
  revoked_at: timestampField().nullable(),
}

const apiKey = namedObject('ApiKey', fields)

export type ApiKey = z.infer<typeof apiKey>

/** The response to its creation, the only one with the key itself. */
export const newApiKey = namedObject('NewApiKey', {
  ...fields,
  key: shownText('The key itself, shown only once.', 'bf_4kT9zQ1mXc7VbN2pLr8WsYd3HfGj5KaE0ZuPqi'),
})

export type NewApiKey = z.infer<typeof newApiKey>

export const apiKeysOperations = {
  listApiKeys: operation('GET', '/api/v1/workspaces/:ws/api-keys', {
    right: 'api_key.read',
    summary: 'List the API keys of a workspace, including revoked ones',
    query: listQuery,
    response: { status: 200, body: pageOf(apiKey) },
  }),

  createApiKey: operation('POST', '/api/v1/workspaces/:ws/api-keys', {
    right: 'api_key.create',
    summary: 'Create an API key, with at most the rights of the user who creates it',
    body: createApiKeyBody,
    response: { status: 201, body: newApiKey },
    errors: ['quota_exceeded', 'step_up_required'],
  }),

  revokeApiKey: operation('DELETE', '/api/v1/workspaces/:ws/api-keys/:key', {
    right: 'api_key.revoke',
    summary: 'Revoke an API key, everywhere within five seconds',
  }),

  rollApiKey: operation('POST', '/api/v1/workspaces/:ws/api-keys/:key/roll', {
    right: 'api_key.create',
    summary: 'Replace an API key; the previous one stays valid for a while',
    body: rollApiKeyBody,
    response: { status: 201, body: newApiKey },
    errors: ['quota_exceeded', 'conflict', 'step_up_required'],
  }),
}
