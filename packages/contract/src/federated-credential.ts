import { checkConditions, conditionLimits } from '@belfry/domain/claim-conditions'
import { parseUrl } from '@belfry/domain/target-url'
import { z } from 'zod'
import { scopesField } from './api-key.ts'
import { integer, textField, textsField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageOf } from './page.ts'
import { idField, shownTexts, timestampField } from './response-fields.ts'
import { displayName, line, textRule } from './text-rules.ts'

const minuteMs = 60_000

/** How long a key for a job is valid, unless the federated credential says otherwise. */
const defaultLifetimeMs = 15 * minuteMs

const issuerPattern = '^https://[^/?#@\\\\\\s]+(/[^?#\\\\\\s]*)?$'

/** The URL of an issuer, exactly as it stands in the `iss` of its tokens. */
const issuerUrl = textRule(
  {
    pattern: issuerPattern,
    maxLength: 500,
    description: 'The issuer of the tokens: an https URL, exactly as in their claim `iss`.',
    examples: ['https://token.actions.githubusercontent.com'],
  },
  text => {
    const isIssuer = text.length <= 500 && new RegExp(issuerPattern).test(text) && parseUrl(text) !== null
    const must = 'be an https URL without query, user and fragment, as in the iss claim of the tokens'
    return isIssuer ? { value: text } : { code: 'invalid_issuer', must }
  },
)

const conditionsField = textsField(
  {
    propertyNames: { pattern: '^[A-Za-z0-9_.:/-]{1,100}$' },
    additionalProperties: { type: 'string', minLength: 1, maxLength: conditionLimits.valueLength },
    minProperties: 1,
    maxProperties: conditionLimits.count,
    description:
      'Up to 20 claims, and what each must be. `*` stands for any characters, also `/`. One claim must name the owner of the jobs, such as `repository`.',
    examples: [{ repository: 'acme/app', ref: 'refs/heads/main' }],
  },
  conditions => checkConditions(conditions).map(problem => ({ code: 'invalid_conditions', ...problem })),
)

const createFederatedCredentialBody = z.strictObject({
  name: textField(displayName),
  issuer: textField(issuerUrl),
  audience: textField(line(500))
    .optional()
    .meta({
      description: 'The `aud` of the tokens. Default: the `PUBLIC_URL` of Belfry.',
      examples: ['https://belfry.example.com'],
    }),
  conditions: conditionsField,
  scopes: scopesField,
  lifetime_ms: integer(minuteMs, 60 * minuteMs)
    .default(defaultLifetimeMs)
    .meta({
      description: 'How long a key is valid, 60,000 to 3,600,000 ms: a minute to an hour.',
      examples: [defaultLifetimeMs],
    }),
})

const federatedCredential = namedObject('FederatedCredential', {
  id: idField('fed'),
  workspace_id: idField('ws'),
  name: z.string().meta({ examples: ['Deployments'] }),
  issuer: z.string().meta({ examples: ['https://token.actions.githubusercontent.com'] }),
  audience: z.string().meta({ examples: ['https://belfry.example.com'], description: 'The `aud` of the tokens.' }),
  conditions: z.record(z.string(), z.string()).meta({ examples: [{ repository: 'acme/app', ref: 'refs/heads/main' }] }),
  scopes: shownTexts('The scopes of the keys, as of an API key. Never more than the rights of its creator.', [
    'publish',
  ]),
  lifetime_ms: z.int().meta({ description: 'How long a key is valid.', examples: [defaultLifetimeMs] }),
  created_by: idField('user'),
  created_at: timestampField(),
  last_used_at: timestampField().nullable(),
})

export type FederatedCredential = z.infer<typeof federatedCredential>

export const federatedCredentialsOperations = {
  listFederatedCredentials: operation('GET', '/api/v1/workspaces/:ws/federated-credentials', {
    right: 'federated_credential.read',
    summary: 'List the federated credentials of a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.federatedCredentials.list',
    response: { status: 200, body: pageOf(federatedCredential) },
  }),

  createFederatedCredential: operation('POST', '/api/v1/workspaces/:ws/federated-credentials', {
    right: 'federated_credential.create',
    summary: 'Let CI jobs exchange their OpenID Connect tokens for API keys',
    description: 'Requires a session token of an owner or admin.',
    client: 'workspaces.federatedCredentials.create',
    body: createFederatedCredentialBody,
    response: { status: 201, body: federatedCredential },
    errors: ['conflict', 'step_up_required'],
  }),

  getFederatedCredential: operation('GET', '/api/v1/workspaces/:ws/federated-credentials/:fed', {
    right: 'federated_credential.read',
    summary: 'Read a federated credential',
    description: 'Requires a session token.',
    client: 'workspaces.federatedCredentials.get',
    response: { status: 200, body: federatedCredential },
  }),

  deleteFederatedCredential: operation('DELETE', '/api/v1/workspaces/:ws/federated-credentials/:fed', {
    right: 'federated_credential.delete',
    summary: 'Delete a federated credential, and revoke the API keys of its jobs',
    client: 'workspaces.federatedCredentials.delete',
  }),
}
