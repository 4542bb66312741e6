import { checkSecretValue } from '@belfry/domain/secrets/secret-value'
import { z } from 'zod'
import { integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageOf } from './page.ts'
import { numberOrNull, orNull, shownText, shownTexts, textOrNull, timestampField } from './response-fields.ts'
import { allowedHosts } from './secret.ts'
import { line, matching, targetUrl, textRule } from './text-rules.ts'

export const connectionNamePattern = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'

const connectionName = matching(
  { pattern: connectionNamePattern, maxLength: 64, examples: ['billing-api'] },
  'invalid_connection_name',
  'be 1 to 64 letters, digits and . _ -, and start with a letter or a digit',
)

/** The connection that authenticates the calls of a new or changed object. */
export const connectionField = textField(connectionName)
  .nullable()
  .meta({ description: 'The name of the connection that authenticates the calls. Null: none.' })

export const connectionNameField = textOrNull('The name of the connection that authenticates its calls.')

const maxSecretLength = 8192
const visible = '[\\u0021-\\u007e]'

function secretText(description: string, pattern = `^${visible}([\\u0020-\\u007e]*${visible})?$`) {
  const form = new RegExp(pattern)
  const schema = { minLength: 4, maxLength: maxSecretLength, pattern, description: `${description} Never returned.` }
  return textField(
    textRule<string>(schema, text => {
      const message = checkSecretValue(text)
      if (message !== null) return { code: 'invalid_secret_value', message }
      return form.test(text) ? { value: text } : { code: 'invalid_secret_value', must: 'have visible ASCII characters' }
    }),
  ).optional()
}

const headerForm = matching(
  { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$", description: 'The name of the header.', examples: ['X-Api-Key'] },
  'invalid_header',
  'be the name of a header',
)
const headerName = textRule<string>({ ...headerForm.schema }, text => {
  const result = headerForm(text)
  const isReserved = 'value' in result && reservedHeaders.test(text)
  return isReserved ? { code: 'invalid_header', must: 'be a header that Belfry does not set itself' } : result
})
const reservedHeaders =
  /^(host|content-length|content-type|transfer-encoding|connection|keep-alive|proxy-.*|te|trailer|upgrade|expect|webhook-.*|x-belfry-.*|upstash-.*|user-agent)$/i

const tokenUrl = textRule<string>(
  { ...targetUrl.schema, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\#][^\\\\#{]*$', description: 'The token endpoint.' },
  text => {
    if (text.includes('{{')) return { code: 'invalid_url', must: 'not refer to secrets' }
    return targetUrl(text)
  },
)

const pem = (description: string) => {
  const pattern = `^\\s*-----BEGIN [A-Z ]+-----[\\s\\S]+-----END [A-Z ]+-----\\s*$`
  return matching({ maxLength: 32_768, pattern, description }, 'invalid_pem', 'be PEM text')
}

const parameters = z
  .record(z.string().min(1).max(100), z.string().max(2_000))
  .refine(given => Object.keys(given).length <= 10, 'at most 10 parameters are possible')
  .refine(
    given => !Object.keys(given).some(name => /^(grant_type|scope|client_(id|secret|assertion.*))$/.test(name)),
    'grant_type, scope and the credentials of the client are not further parameters',
  )
  .meta({
    description:
      'Up to 10 further parameters of the token request, such as `audience` or `resource`, sent as they are.',
    examples: [{ audience: 'https://api.example.com' }],
  })

const pemKey = pem(
  'The private key of the client certificate, as PEM: RSA of up to 4,096 bits, EC (P-256, P-384, P-521) or Ed25519, without a passphrase. Never returned.',
)
const common = {
  hosts: allowedHosts.meta({ description: 'The 1 to 20 hosts that the connection may authenticate to.' }),
  ca_certificate: textField(pem('Authorities that are trusted in addition to the public ones, as PEM.'))
    .nullable()
    .optional(),
  client_certificate: textField(pem('The certificate that calls present to the target, as PEM.')).nullable().optional(),
  client_key: textField(pemKey).optional(),
}

/**
 * The body that creates or replaces a connection. An omitted secret stays as it is stored, unless the kind, the token
 * endpoint or a host is new.
 */
export const putConnectionBody = z.discriminatedUnion('kind', [
  z
    .strictObject({
      kind: z.literal('header'),
      header: textField(headerName).default('Authorization'),
      value: secretText('The value of the header.'),
      ...common,
    })
    .meta({ examples: [{ kind: 'header', hosts: ['api.example.com'], header: 'X-Api-Key', value: '3f1c9a7e5b2d' }] }),
  z.strictObject({
    kind: z.literal('basic'),
    username: textField(
      textRule<string>({ pattern: '^[^:\\u0000-\\u001f\\u007f]{1,200}$', examples: ['belfry'] }, text =>
        /^[^:\p{Cc}]{1,200}$/u.test(text)
          ? { value: text }
          : { code: 'invalid_characters', must: 'have 1 to 200 characters without : and control characters' },
      ),
    ),
    password: secretText('The password.'),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('oauth2'),
    token_url: textField(tokenUrl),
    client_id: textField(line(500)),
    client_secret: secretText('The secret of the client.'),
    client_authentication: z.enum(['basic', 'post']).default('basic').meta({
      description: 'How the client proves who it is: `basic`, by HTTP Basic, or `post`, by parameters in the body.',
    }),
    scope: textField(line(1_000)).nullable().optional(),
    parameters: parameters.default(() => ({})),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('identity_token'),
    audience: textField(line(500)),
    lifetime_s: integer(60, 3_600).default(300),
    ...common,
  }),
  z.strictObject({ kind: z.literal('tls'), ...common }),
])

export type PutConnectionBody = z.infer<typeof putConnectionBody>

export const connection = namedObject('Connection', {
  name: z.string().meta({ examples: ['billing-api'] }),
  kind: z.enum(['header', 'basic', 'oauth2', 'identity_token', 'tls']),
  hosts: shownTexts('The hosts that it may authenticate to.', ['api.example.com']),
  header: textOrNull('Of the kind `header`: the name of the header.', 'Authorization'),
  username: textOrNull('Of the kind `basic`.'),
  token_url: textOrNull('Of the kind `oauth2`: the token endpoint.'),
  client_id: textOrNull('Of the kind `oauth2`.'),
  client_authentication: orNull(z.enum(['basic', 'post']), { examples: [null] }),
  scope: textOrNull('Of the kind `oauth2`.'),
  parameters: orNull(z.record(z.string(), z.string()), { examples: [null] }),
  audience: textOrNull('Of the kind `identity_token`.'),
  lifetime_s: numberOrNull('Of the kind `identity_token`: how long a token is valid, in seconds.'),
  ca_certificate: textOrNull('Authorities that are trusted in addition to the public ones, as PEM.'),
  client_certificate: textOrNull('The certificate that calls present to the target, as PEM.'),
  created_at: timestampField(),
  updated_at: timestampField(),
})

/** A connection in a response, without its secrets. */
export type Connection = z.infer<typeof connection>

const connectionTest = namedObject('ConnectionTest', {
  ok: z.boolean().meta({ examples: [true], description: 'Whether the test succeeded.' }),
  message: shownText('What happened, without secrets.', 'The token endpoint issued a token for 3600 seconds.'),
  response_status: numberOrNull('The status of the response to the call of `url`.'),
})

export type ConnectionTest = z.infer<typeof connectionTest>

export const connectionsOperations = {
  listConnections: operation('GET', '/api/v1/workspaces/:ws/connections', {
    right: 'connection.read',
    summary: 'List the connections of a workspace by name, without their secrets',
    client: 'workspaces.connections.list',
    response: { status: 200, body: pageOf(connection) },
  }),

  getConnection: operation('GET', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.read',
    summary: 'Get a connection, without its secrets',
    client: 'workspaces.connections.get',
    response: { status: 200, body: connection },
  }),

  putConnection: operation('PUT', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.write',
    summary: 'Create a connection (201), or replace its settings (200)',
    client: 'workspaces.connections.put',
    body: putConnectionBody,
    response: { status: 200, orStatus: 201, body: connection },
    errors: ['conflict'],
  }),

  deleteConnection: operation('DELETE', '/api/v1/workspaces/:ws/connections/:connection', {
    right: 'connection.delete',
    summary: 'Delete a connection that no cron job and no subscription names',
    client: 'workspaces.connections.delete',
    errors: ['connection_in_use'],
  }),

  testConnection: operation('POST', '/api/v1/workspaces/:ws/connections/:connection/test', {
    right: 'connection.test',
    summary: 'Test a connection: request a token, or call a URL, and report what happened',
    description: 'Kinds without tokens need a URL.',
    client: 'workspaces.connections.test',
    body: z.strictObject({
      url: textField(targetUrl)
        .optional()
        .meta({ description: 'A URL that is called with GET. Kinds without tokens need it.' }),
    }),
    response: { status: 200, body: connectionTest },
    errors: ['rate_limited'],
  }),
}
