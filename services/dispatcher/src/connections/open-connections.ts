import { readConnections } from '@belfry/db/connections/connections'
import type { Pool } from '@belfry/db/postgres/pool'
import { createRedactor, type Redactor } from '@belfry/domain/secrets/redact'
import type { Logger } from '@belfry/runtime'
import type { MasterKeys } from '@belfry/vault'
import { LRUCache } from 'lru-cache'
import type { Sender } from '../egress/send.ts'
import type { TlsSenders } from '../egress/tls-senders.ts'
import { createWorkspaceCache } from '../secrets/workspace-cache.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createIdentityTokens } from './identity-tokens.ts'
import { requestToken } from './request-token.ts'

type Needed = { pool: Pool; sender: Sender; tlsSenders: TlsSenders }

/** What turns connections into credentials. The connections of workspaces are of at most five seconds ago. */
export type ConnectionsContext = { log: Logger } & Needed & ReturnType<typeof openConnections>

/**
 * Opens what turns connections into credentials.
 * @param publicUrl - The issuer of identity tokens. Null: the installation does not issue them.
 */
export function openConnections(
  { pool, sender, tlsSenders }: Needed,
  { masterKeys, publicUrl }: { masterKeys: MasterKeys; publicUrl: string | null },
) {
  return {
    connections: createWorkspaceCache(ids => readConnections(pool, masterKeys, ids)),
    accessTokens: createAccessTokens(pool, masterKeys, connection =>
      requestToken(tlsSenders.of(connection) ?? sender, connection),
    ),
    identityTokens: createIdentityTokens(pool, masterKeys, publicUrl),
    credentialRedactors: createCredentialRedactors(),
  }
}

// The patterns of a character take up to 300 bytes.
const maxCharacters = 100_000

/** Keeps redactors of credentials. The patterns of a long token take milliseconds to make, and many calls send the same token. */
export function createCredentialRedactors() {
  const redactors = new LRUCache<string, Redactor, { hidden: readonly string[]; reference: string }>({
    maxSize: maxCharacters,
    sizeCalculation: (_redactor, key) => key.length,
    memoMethod: (_key, _old, { context: { hidden, reference } }) =>
      createRedactor(hidden.map(value => ({ name: '', value, put: reference }))),
  })
  return {
    /** Returns a redactor that replaces values by a reference. */
    get: (hidden: readonly string[], reference: string): Redactor =>
      redactors.memo([reference, ...hidden].join('\n'), { context: { hidden, reference } }),
  }
}
