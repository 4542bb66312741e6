import type { Alert } from './alert.ts'
import type { Mail } from './mail.ts'

/**
 * A message of the outbox: a mail, an alert for one integration, audit entries for the webhook of an organization, or the order to
 * read the keys of an issuer.
 */
export type Message =
  | { type: 'mail'; mail: Mail }
  | { type: 'alert'; workspaceId: string; integrationId: string; alert: Alert }
  | { type: 'audit_log'; organizationId: string /** JSON lines. */; lines: string }
  | { type: 'issuer_keys'; workspaceId: string; credentialId: string }
