import type { Alert } from './alert.ts'
import type { Mail } from './mail.ts'

/** A message of the outbox: a mail, or an alert for one integration. */
export type Message =
  | { type: 'mail'; mail: Mail }
  | { type: 'alert'; workspaceId: string; integrationId: string; alert: Alert }
