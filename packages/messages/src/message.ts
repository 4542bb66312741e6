import type { Alert } from './alert.ts'
import type { Mail } from './mail.ts'

/** A message of the outbox: a mail, an alert for one integration, or audit entries for the webhook of an organization. */
export type Message =
  | { type: 'mail'; mail: Mail }
  | { type: 'alert'; workspaceId: string; integrationId: string; alert: Alert }
  | { type: 'audit_log'; organizationId: string /** JSON lines. */; lines: string }
