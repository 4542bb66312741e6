import type { Id, Timestamp } from './request.ts'

export type NewFederatedCredential = {
  name: string
  /** An https URL, exactly as in the `iss` of the tokens. */
  issuer: string
  /** The `aud` of the tokens. Default: the URL of Belfry. */
  audience?: string
  /** One of them must name the owner of the jobs, such as `repository`. */
  conditions: Record<string, string>
  /** `full`, `read`, `publish` or single rights. */
  scopes: string[]
  /** At most an hour. Default: 15 minutes. */
  lifetimeMs?: number
}

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
