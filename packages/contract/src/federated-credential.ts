import { type ClaimConditions, checkConditions, conditionLimits } from '@belfry/domain/claim-conditions'
import { parseUrl } from '@belfry/domain/target-url'
import { z } from 'zod'
import { scopesField } from './api-key.ts'
import { integer, refuse, textField } from './fields.ts'
import { idField, timestampField } from './response-fields.ts'
import { displayName, id, line, textRule } from './text-rules.ts'

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

const conditionsField = z
  .unknown()
  .meta({
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z0-9_.:/-]{1,100}$' },
    additionalProperties: { type: 'string', minLength: 1, maxLength: conditionLimits.valueLength },
    minProperties: 1,
    maxProperties: conditionLimits.count,
    description:
      'The claims that a token must have. `*` stands for any characters. One of them must name the owner of the jobs: see docs/ci.md.',
    examples: [{ repository: 'acme/app', ref: 'refs/heads/main' }],
  })
  .transform((given, ctx): ClaimConditions => {
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      refuse(ctx, given, { code: 'invalid_type', must: 'be an object of strings' })
      return z.NEVER
    }
    const conditions: Record<string, unknown> = { ...given }
    for (const { name, must } of checkConditions(conditions)) {
      refuse(ctx, given, { code: 'invalid_conditions', must }, name === '' ? [] : [name])
    }
    return conditions as ClaimConditions // every value that is not a text is a problem
  })

export const createFederatedCredentialBody = z.strictObject({
  name: textField(displayName),
  issuer: textField(issuerUrl),
  audience: textField(line(500))
    .optional()
    .meta({
      description: 'The `aud` of the tokens. Default: the URL of Belfry.',
      examples: ['https://belfry.example.com'],
    }),
  conditions: conditionsField,
  scopes: scopesField,
  lifetime_ms: integer(minuteMs, 60 * minuteMs)
    .default(defaultLifetimeMs)
    .meta({ description: 'How long a key is valid: by default 15 minutes.', examples: [defaultLifetimeMs] }),
})

export const federatedCredential = z
  .object({
    id: idField('fed'),
    workspace_id: idField('ws'),
    name: z.string().meta({ examples: ['Deployments'] }),
    issuer: z.string().meta({ examples: ['https://token.actions.githubusercontent.com'] }),
    audience: z.string().meta({ examples: ['https://belfry.example.com'] }),
    conditions: z
      .record(z.string(), z.string())
      .meta({ examples: [{ repository: 'acme/app', ref: 'refs/heads/main' }] }),
    scopes: z.array(z.string()).meta({
      description: 'The scopes of the keys, as of an API key. Never more than the rights of its creator.',
      examples: [['publish']],
    }),
    lifetime_ms: z.int().meta({ description: 'How long a key is valid.', examples: [defaultLifetimeMs] }),
    created_by: idField('user'),
    created_at: timestampField(),
    last_used_at: timestampField().nullable(),
  })
  .meta({ id: 'FederatedCredential' })

export type FederatedCredential = z.infer<typeof federatedCredential>

/** A token of a job. Tokens of CI services have one to two thousand characters. */
export const exchangeTokenBody = z.strictObject({
  federated_credential_id: textField(id('fed')),
  token: textField(line(16_384)).meta({
    description: 'The OpenID Connect token of the job, a signed JWT. Each works once.',
    examples: ['eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJyZXBvOmFjbWUvYXBwIn0.c2lnbmF0dXJl'],
  }),
})
