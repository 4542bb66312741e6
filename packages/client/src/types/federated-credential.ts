import type { Id, Timestamp } from './request.ts'

/** The API key of a job. */
export type ExchangedKey = {
  id: Id
  workspaceId: Id
  /** The key itself, `bf_...`. */
  key: string
  name: string
  scopes: string[]
  federatedCredentialId: Id
  /** The `sub` of the token. */
  subject: string
  expiresAt: Timestamp
}
