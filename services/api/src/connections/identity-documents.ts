import { listIdentityKeys } from '@belfry/db/connections/identity-keys'
import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'

const cachedFor = { 'Cache-Control': 'public, max-age=3600' }

const keySet = z
  .object({ keys: z.array(z.record(z.string(), z.string())) })
  .meta({ id: 'IdentityKeySet', examples: [{ keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] }] })

/** The public keys of identity tokens, for every verifier. */
export const getIdentityKeys = endpoint({
  right: 'public',
  summary: 'Get the public keys that verify identity tokens',
  answer: { status: 200, body: keySet },
  async handle(ctx) {
    return { ...ok({ keys: await listIdentityKeys(ctx.pool) }), headers: cachedFor }
  },
})

const discovery = z
  .object({
    issuer: z.string().meta({ examples: ['https://belfry.example.com'] }),
    jwks_uri: z.string().meta({ examples: ['https://belfry.example.com/.well-known/jwks.json'] }),
    response_types_supported: z.array(z.string()).meta({ examples: [['id_token']] }),
    subject_types_supported: z.array(z.string()).meta({ examples: [['public']] }),
    id_token_signing_alg_values_supported: z.array(z.string()).meta({ examples: [['RS256']] }),
    claims_supported: z.array(z.string()).meta({ examples: [['sub']] }),
  })
  .meta({ id: 'IdentityDiscovery' })

/** The discovery document of the issuer of identity tokens: verifiers find its keys by it. */
export const getIdentityDiscovery = endpoint({
  right: 'public',
  summary: 'Get where the keys of identity tokens are',
  answer: { status: 200, body: discovery },
  async handle(ctx) {
    const issuer = ctx.config.publicUrl
    const body = {
      issuer,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      claims_supported: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'workspace_id', 'connection'],
    }
    return { ...ok(body), headers: cachedFor }
  },
})
