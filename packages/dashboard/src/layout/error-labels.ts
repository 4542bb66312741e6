import type { RunErrorCode } from '@belfry/contract/run'

export const errorLabels: Record<RunErrorCode, string> = {
  http_status: 'HTTP status',
  timeout: 'Timeout',
  connection_refused: 'Connection refused',
  connection_reset: 'Connection reset',
  stale_connection: 'Stale connection',
  dns: 'DNS',
  tls: 'TLS',
  blocked_address: 'Blocked address',
  invalid_response: 'Invalid response',
  secret_missing: 'Secret missing',
  secret_invalid: 'Secret invalid',
  secret_not_allowed: 'Secret not allowed',
  secret_unreadable: 'Secret unreadable',
  connection_missing: 'Connection missing',
  connection_not_allowed: 'Connection not allowed',
  connection_failed: 'Connection failed',
  internal_error: 'Internal error',
  worker_lost: 'Worker lost',
}

/** Returns an error in words. An error that a newer API has added is shown by its code. */
export function errorText(code: string): string {
  return Object.hasOwn(errorLabels, code) ? errorLabels[code as RunErrorCode] : code
}

/** Returns what a run has received: a status code, or else its error in words. */
export function outcomeText(status: number | null | undefined, code: string | null | undefined): string {
  return String(status ?? (code ? errorText(code) : '–'))
}
