import { createHttp } from './http.ts'
import type { BelfryOptions } from './options.ts'
import { toBody } from './request-body.ts'
import type { ExchangedKey, Id } from './types/index.ts'

/** What a job exchanges for an API key, and the options of the client except for credentials. */
export type ExchangeOptions = Omit<BelfryOptions, 'apiKey' | 'sessionToken' | 'workspaceId'> & {
  /** The id of a federated credential, `fed_...`. It is no secret. */
  federatedCredentialId: Id
  /** The OpenID Connect token of the job. Each works once. */
  token: string
}

/**
 * Exchanges the OpenID Connect token of a CI job for an API key that expires soon. Throws `AuthenticationError` when the federated
 * credential does not accept the token.
 * The `key` of the result is the `apiKey` of a `Belfry`.
 */
export async function exchangeToken(options: ExchangeOptions): Promise<ExchangedKey> {
  const { federatedCredentialId, token, ...client } = options
  return createHttp(client, {}).post('/api/v1/auth/token-exchange', toBody({ federatedCredentialId, token }))
}
