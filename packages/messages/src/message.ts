import type { Alert } from './alert.ts'
import type { Mail } from './mail.ts'

/** What stands in the outbox: a mail, or an alert that one integration is told of. */
export type Message =
  | { type: 'mail'; mail: Mail }
  | { type: 'alert'; workspaceId: string; integrationId: string; alert: Alert }
