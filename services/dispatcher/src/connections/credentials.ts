import type { OpenConnection } from '@belfry/db/connections/connections'
import { checkSecretValue } from '@belfry/domain/secrets/secret-value'
import type { ConnectionsContext } from './open-connections.ts'

export type Credentials = {
  /** The header with the credentials; null when the certificate alone authenticates. */
  header: { name: string; value: string } | null
  /** The values that a response may repeat, and that no log shows. */
  hidden: readonly string[]
  /** The id of the access token of an authorization server. The token may be replaced. Null for other credentials. */
  tokenId: string | null
}

/**
 * Returns the credentials of a connection.
 * @param refused - The id of the access token to which the target answered 401. Optional.
 * @throws TokenRequestError when there is no token.
 */
export async function credentialsOf(
  ctx: Pick<ConnectionsContext, 'accessTokens' | 'identityTokens'>,
  connection: OpenConnection,
  refused?: string,
): Promise<Credentials> {
  const { kind, settings, secrets } = connection
  switch (kind) {
    case 'header': {
      const { value = '' } = secrets
      // A target may repeat what follows the scheme. Too short a part would be hidden in unrelated texts.
      const bare = value.slice(value.indexOf(' ') + 1).trimStart()
      const hidden = bare === value || checkSecretValue(bare) !== null ? [value] : [value, bare]
      return { header: { name: settings.header ?? 'Authorization', value }, hidden, tokenId: null }
    }
    case 'basic': {
      const { password = '' } = secrets
      const encoded = Buffer.from(`${settings.username}:${password}`).toString('base64')
      return { header: authorization(`Basic ${encoded}`), hidden: [password, encoded], tokenId: null }
    }
    case 'oauth2': {
      const { id, value } = await ctx.accessTokens.get(connection, refused)
      return { header: authorization(`Bearer ${value}`), hidden: [value], tokenId: id }
    }
    case 'identity_token': {
      const value = await ctx.identityTokens.get(connection)
      return { header: authorization(`Bearer ${value}`), hidden: [value], tokenId: null }
    }
    case 'tls':
      return { header: null, hidden: [], tokenId: null }
  }
}

const authorization = (value: string) => ({ name: 'Authorization', value })
