import { operations } from '@belfry/contract/operations'
import { listIdentityKeys } from '@belfry/db/connections/identity-keys'
import { endpoint } from '../endpoint.ts'
import { Reply } from '../http/reply.ts'

const cachedFor = { 'Cache-Control': 'public, max-age=3600' }

/** The public keys of identity tokens, for every verifier. */
export const getIdentityKeys = endpoint(
  operations.getIdentityKeys,
  async ctx => new Reply({ status: 200, body: { keys: await listIdentityKeys(ctx.pool) }, headers: cachedFor }),
)

/** The discovery document of the issuer of identity tokens: verifiers find its keys by it. */
export const getIdentityDiscovery = endpoint(operations.getIdentityDiscovery, async ctx => {
  const issuer = ctx.config.publicUrl
  const body = {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'workspace_id', 'connection'],
  }
  return new Reply({ status: 200, body, headers: cachedFor })
})
