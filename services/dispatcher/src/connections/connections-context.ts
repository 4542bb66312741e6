import type { OpenConnections } from '@belfry/db/connections/connections'
import type { Pool } from '@belfry/db/postgres/pool'
import type { Logger } from '@belfry/runtime'
import type { Sender } from '../egress/send.ts'
import type { TlsSenders } from '../egress/tls-senders.ts'
import type { WorkspaceCache } from '../secrets/workspace-cache.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { CredentialRedactors } from './credential-redactors.ts'
import type { IdentityTokens } from './identity-tokens.ts'

export type ConnectionsContext = {
  log: Logger
  pool: Pool
  sender: Sender
  /** The connections of workspaces, of at most five seconds ago. */
  connections: WorkspaceCache<OpenConnections>
  accessTokens: AccessTokens
  identityTokens: IdentityTokens
  credentialRedactors: CredentialRedactors
  tlsSenders: TlsSenders
}
