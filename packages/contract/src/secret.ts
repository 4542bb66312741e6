import { readHostPattern } from '@belfry/domain/secrets/allowed-hosts'
import { checkSecretValue, secretValuePattern } from '@belfry/domain/secrets/secret-value'
import { z } from 'zod'
import { textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageOf } from './page.ts'
import { idField, orNull, shownText, timeOrNull, timestampField } from './response-fields.ts'
import { textRule } from './text-rules.ts'

const valueSchema = {
  minLength: 4,
  maxLength: 8192,
  pattern: secretValuePattern,
  description: 'The value; never returned.',
  examples: ['3f1c9a7e5b2d'],
}

const valueRule = textRule<string>(valueSchema, text => {
  const message = checkSecretValue(text)
  return message === null ? { value: text } : { code: 'invalid_secret_value', message }
})

/** The JSON Schema of a secret's name. */
export const secretName = { pattern: '^[A-Z][A-Z0-9_]{0,63}$', examples: ['API_TOKEN'] }

const hostSchema = {
  maxLength: 260,
  description: 'A host name or address, with or without a port; `*.example.com` stands for every name below.',
  examples: ['api.example.com'],
}

const hostRule = textRule<string>(hostSchema, text => {
  const pattern = readHostPattern(text)
  return pattern === null
    ? { code: 'invalid_host', must: 'be a host such as api.example.com, api.example.com:8443 or *.example.com' }
    : { value: pattern }
})

/** The hosts that a secret or a connection may be sent to. */
export const allowedHosts = z.array(textField(hostRule)).min(1).max(20)

/**
 * The body that sets the value of a secret. Without `allowed_hosts` a new secret may be sent to every host, and an existing
 * one keeps its hosts. Null allows every host.
 */
export const putSecretBody = z.strictObject({
  value: textField(valueRule),
  allowed_hosts: allowedHosts.nullable().optional(),
})

export const secret = namedObject('Secret', {
  name: shownText('The name in references `{{ secrets.NAME }}`.', 'API_TOKEN'),
  allowed_hosts: orNull(z.array(z.string()), {
    description: 'The hosts that it may be sent to. Null: every host.',
    examples: [['api.example.com']],
  }),
  created_at: timestampField(),
  updated_at: timestampField(),
})

/** A secret in a response, without its value. */
export type Secret = z.infer<typeof secret>

const publicKeyField = () =>
  shownText(
    'The key with which receivers verify `v1a` signatures (Ed25519). It may be published.',
    'whpk_3S3bdP9vu9mLZmBL7qUQvGTmRrZGcZkz3Wu8HqDOrO0=',
  )

const signingKey = namedObject('SigningKey', {
  public_key: publicKeyField(),
  expires_at: timeOrNull('When a replaced key stops signing; null for the current key.', null),
})

export const signingSecret = namedObject('SigningSecret', {
  id: idField('sec'),
  workspace_id: idField('ws'),
  secret: shownText(
    'The secret with which receivers verify signatures, in the format of the Standard Webhooks libraries.',
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  ),
  public_key: publicKeyField(),
  created_at: timestampField(),
  expires_at: timeOrNull('When a replaced secret stops signing; null for the current secret.', null),
})

/** A secret that signs the deliveries of a workspace. */
export type SigningSecret = z.infer<typeof signingSecret>

export const subscriptionSecret = signingSecret
  .pick({ id: true, secret: true, created_at: true, expires_at: true })
  .meta({ id: 'SubscriptionSecret' })

/** A secret that signs the calls of one subscription. */
export type SubscriptionSecret = z.infer<typeof subscriptionSecret>

export const secretsOperations = {
  listSecrets: operation('GET', '/api/v1/workspaces/:ws/secrets', {
    right: 'secret.read',
    summary: 'List the secrets of a workspace by name, without their values',
    client: 'workspaces.secrets.list',
    response: { status: 200, body: pageOf(secret) },
  }),

  putSecret: operation('PUT', '/api/v1/workspaces/:ws/secrets/:name', {
    right: 'secret.write',
    summary: 'Create a secret (201), or change its value (200)',
    description: 'Requests refer to it as `{{ secrets.NAME }}`.',
    client: 'workspaces.secrets.put',
    body: putSecretBody,
    response: { status: 200, orStatus: 201, body: secret },
    errors: ['quota_exceeded'],
  }),

  deleteSecret: operation('DELETE', '/api/v1/workspaces/:ws/secrets/:name', {
    right: 'secret.delete',
    summary: 'Delete a secret',
    description: 'Tasks that still refer to it fail with `secret_missing`.',
    client: 'workspaces.secrets.delete',
  }),

  listSigningKeys: operation('GET', '/api/v1/workspaces/:ws/signing-keys', {
    right: 'public',
    summary: 'List the public keys that verify `v1a` signatures, the current one first',
    description: 'It needs no API key.',
    client: 'workspaces.signingKeys.list',
    response: { status: 200, body: pageOf(signingKey) },
    errors: ['not_found'],
  }),

  listSigningSecrets: operation('GET', '/api/v1/workspaces/:ws/signing-secrets', {
    right: 'signing_secret.read',
    summary: 'List the signing secrets of a workspace, the current one first',
    client: 'workspaces.signingSecrets.list',
    response: { status: 200, body: pageOf(signingSecret) },
  }),

  rotateSigningSecret: operation('POST', '/api/v1/workspaces/:ws/signing-secrets', {
    right: 'signing_secret.rotate',
    summary: 'Create a new signing secret; the old one also signs for 24 hours',
    client: 'workspaces.signingSecrets.rotate',
    response: { status: 201, body: signingSecret },
    errors: ['conflict'],
  }),

  revokeSigningSecret: operation('DELETE', '/api/v1/workspaces/:ws/signing-secrets/:secret', {
    right: 'signing_secret.revoke',
    summary: 'Revoke an old signing secret at once',
    client: 'workspaces.signingSecrets.revoke',
    errors: ['conflict'],
  }),
}
