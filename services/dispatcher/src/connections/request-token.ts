import type { OpenConnection } from '@belfry/db/connections/connections'
import { createRedactor, type Redactor } from '@belfry/domain/secrets/redact'
import type { SendOutcome } from '../egress/outcome.ts'
import type { Sender } from '../egress/send.ts'
import { redactFault } from '../secrets/redact-outcome.ts'

export type IssuedToken = { value: string; lifetimeMs: number }

/** The token endpoint did not issue a token. The message is a sentence without secrets. */
export class TokenRequestError extends Error {}

/** The token endpoint was not called: file descriptors or the egress proxy were missing, or the connection has changed. */
export class UnsentTokenRequestError extends TokenRequestError {}

export const tokenRequestTimeoutMs = 10_000
// For issuers that do not say how long a token is valid.
const defaultLifetimeS = 300
const maxLifetimeS = 30 * 24 * 3_600
// RFC 6750, and what a header can have.
const tokenForm = /^[\x21-\x7e]{4,8000}$/

/**
 * Requests an access token by the client credentials of a connection (RFC 6749, 4.4). The call obeys the rules of calls to
 * targets: their addresses, no redirect, at most 64 KiB.
 * @throws TokenRequestError
 */
export async function requestToken(sender: Pick<Sender, 'send'>, connection: OpenConnection): Promise<IssuedToken> {
  const { settings, secrets } = connection
  const { tokenUrl = '', clientId = '', clientAuthentication, scope, parameters } = settings
  const { clientSecret = '' } = secrets
  const form = new URLSearchParams({ ...parameters, grant_type: 'client_credentials' })
  if (scope !== undefined) form.set('scope', scope)
  const hidden = [clientSecret]
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'Content-Type': 'application/x-www-form-urlencoded',
  }
  if (clientAuthentication === 'post') {
    form.set('client_id', clientId)
    form.set('client_secret', clientSecret)
  } else {
    const credentials = Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')
    headers.Authorization = `Basic ${credentials}`
    hidden.push(credentials)
  }
  const request = { url: tokenUrl, method: 'POST', headers, body: form.toString(), timeoutMs: tokenRequestTimeoutMs }
  const redactor = createRedactor(hidden.map(value => ({ name: '', value, put: '***' })))
  const outcome = await sender.send(request).catch(async error => Promise.reject(await redactFault(error, redactor)))
  return readToken(outcome, redactor)
}

// Before they are joined by a colon, both are encoded as in a form (RFC 6749, 2.3.1).
function formEncoded(text: string): string {
  return new URLSearchParams({ _: text }).toString().slice('_='.length)
}

async function readToken(outcome: SendOutcome, redactor: Redactor): Promise<IssuedToken> {
  const notIssued = 'No access token was issued.'
  if (outcome.kind === 'unsent') throw new UnsentTokenRequestError(`${notIssued} ${outcome.message}`)
  if (outcome.kind === 'failure')
    throw new TokenRequestError(`${notIssued} ${outcome.message.replaceAll('target', 'token endpoint')}`)
  const { status } = outcome
  const answer = parseObject(outcome.bodyTruncated ? '' : outcome.body.toString())
  if (status !== 200)
    throw new TokenRequestError(`The token endpoint answered ${status}${await reasonIn(answer, redactor)}.`)
  const { access_token: value, token_type: type, expires_in: lifetime } = answer
  if (typeof value !== 'string' || !tokenForm.test(value)) {
    throw new TokenRequestError('The token endpoint answered 200 without a valid access_token.')
  }
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw new TokenRequestError('The token endpoint issued a token that is not a bearer token.')
  }
  const lifetimeS = Number(lifetime)
  const known = Number.isFinite(lifetimeS) && lifetimeS > 0 ? Math.min(lifetimeS, maxLifetimeS) : defaultLifetimeS
  return { value, lifetimeMs: known * 1000 }
}

// An authorization server may repeat what it has received.
async function reasonIn(answer: Record<string, unknown>, redactor: Redactor): Promise<string> {
  const shown = async (text: unknown) =>
    typeof text === 'string'
      ? (await redactor.text(text))
          .replace(/[^\x20-\x7e]/g, ' ')
          .slice(0, 200)
          .trim()
      : ''
  const code = await shown(answer.error)
  const description = (await shown(answer.error_description)).replace(/\.$/, '')
  return `${code && ` ${code}`}${description && `: ${description}`}`
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}
