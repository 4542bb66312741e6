import { z } from 'zod'

/** The public keys of identity tokens. */
export const keySet = z
  .object({ keys: z.array(z.record(z.string(), z.string())) })
  .meta({ id: 'IdentityKeySet', examples: [{ keys: [{ kty: 'RSA', alg: 'RS256', use: 'sig' }] }] })

/** Where verifiers find the keys of identity tokens. */
export const discovery = z
  .object({
    issuer: z.string().meta({ examples: ['https://belfry.example.com'] }),
    jwks_uri: z.string().meta({ examples: ['https://belfry.example.com/.well-known/jwks.json'] }),
    response_types_supported: z.array(z.string()).meta({ examples: [['id_token']] }),
    subject_types_supported: z.array(z.string()).meta({ examples: [['public']] }),
    id_token_signing_alg_values_supported: z.array(z.string()).meta({ examples: [['RS256']] }),
    claims_supported: z.array(z.string()).meta({ examples: [['sub']] }),
  })
  .meta({ id: 'IdentityDiscovery' })
