import { z } from 'zod'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { numberOrNull, shownTexts } from './response-fields.ts'

export const documentsOperations = {
  getIdentityKeys: operation('GET', '/.well-known/jwks.json', {
    right: 'public',
    summary: 'Get the public keys that verify identity tokens',
    response: {
      status: 200,
      body: z
        .object({ keys: z.array(z.record(z.string(), z.string())).meta({ description: 'The public keys, as JWK.' }) })
        .meta({ id: 'IdentityKeySet', examples: [{ keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] }] }),
    },
  }),

  getIdentityDiscovery: operation('GET', '/.well-known/openid-configuration', {
    right: 'public',
    summary: 'Get where the keys of identity tokens are',
    response: {
      status: 200,
      body: namedObject('IdentityDiscovery', {
        issuer: z.string().meta({ examples: ['https://belfry.example.com'] }),
        jwks_uri: z.string().meta({ examples: ['https://belfry.example.com/.well-known/jwks.json'] }),
        response_types_supported: shownTexts('Always `id_token`.', ['id_token']),
        subject_types_supported: shownTexts('Always `public`.', ['public']),
        id_token_signing_alg_values_supported: z.array(z.string()).meta({ examples: [['RS256']] }),
        claims_supported: shownTexts('The claims of the tokens.', ['sub']),
      }),
    },
  }),

  getProblem: operation('GET', '/api/problems/:code', {
    right: 'public',
    summary: 'Explain the code of a problem, a field or a failed run',
    response: {
      status: 200,
      body: namedObject('ProblemPage', {
        code: z.string().meta({ examples: ['rate_limited'] }),
        status: numberOrNull('The status of the response. Null for codes of fields and runs.', 429),
        title: z.string().meta({ examples: ['Too many requests'] }),
        description: z.string().meta({ description: 'The cause, and what to do.' }),
      }),
      texts: ['text/html'],
    },
    errors: ['not_found'],
  }),

  getOpenApi: operation('GET', '/api/openapi.json', {
    right: 'public',
    summary: 'Describe this API as OpenAPI 3.1',
    response: {
      status: 200,
      body: z.looseObject({
        openapi: z.string().meta({ examples: ['3.1.1'], description: 'The version of OpenAPI.' }),
      }),
    },
  }),

  getReference: operation('GET', '/api/docs', {
    right: 'public',
    summary: 'Show this reference',
    response: { status: 200, texts: ['text/html'] },
  }),
}
