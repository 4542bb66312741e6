import {
  type ConnectionTest,
  type ConnectionTestOutcome,
  finishConnectionTest,
  takeConnectionTest,
} from '@belfry/db/connections/connection-tests'
import { CertificateError } from '../egress/tls-senders.ts'
import { redactFault } from '../secrets/redact-outcome.ts'
import { findConnection, refusalOf } from './apply-connection.ts'
import { credentialsOf } from './credentials.ts'
import type { ConnectionsContext } from './open-connections.ts'
import { requestToken, TokenRequestError } from './request-token.ts'

const maxInFlight = 32
// Targets that hang delay only the tests of the same organization.
const maxOfOrganization = 2
const timeoutMs = 10_000

/**
 * Creates the chore that runs the tests of connections for which users wait.
 * @param wake - Runs the chore again: each test that ends lets the next one start.
 */
export function createConnectionTestRunner(ctx: ConnectionsContext, userAgent: string, wake: () => void) {
  const inFlight: string[] = [] // the organization of each
  const atLimit = () => inFlight.filter(one => inFlight.filter(other => other === one).length >= maxOfOrganization)
  return async () => {
    while (inFlight.length < maxInFlight) {
      const test = await takeConnectionTest(ctx.pool, atLimit())
      if (test === null) return
      inFlight.push(test.organizationId)
      testConnection(ctx, test, userAgent)
        .catch(error => {
          ctx.log.error({ err: error }, 'connection_test.fault')
          return failed('Belfry failed within this test.')
        })
        .then(outcome => finishConnectionTest(ctx.pool, test.id, outcome))
        .catch(error => ctx.log.warn({ err: error }, 'connection_test.not_recorded'))
        .finally(() => {
          inFlight.splice(inFlight.indexOf(test.organizationId), 1)
          wake()
        })
    }
  }
}

async function testConnection(ctx: ConnectionsContext, { workspaceId, name, url }: ConnectionTest, userAgent: string) {
  const { reload } = ctx.connections
  // A user who has just changed the connection tests the change.
  const connection = await findConnection({ connections: { get: reload, reload } }, { workspaceId, name })
  if (connection === null) return failed('The connection has been deleted.')
  const refusal = url === null ? null : refusalOf(connection, url)
  if (refusal) return failed(refusal.message)
  try {
    const sender = ctx.tlsSenders.of(connection) ?? ctx.sender
    if (url === null && connection.kind === 'oauth2') {
      const { lifetimeMs } = await requestToken(sender, connection)
      const message = `The token endpoint issued a token for ${Math.round(lifetimeMs / 1000)} seconds.`
      return { ok: true, message, responseStatus: null }
    }
    const { header, hidden } = await credentialsOf(ctx, connection)
    if (url === null) return { ok: true, message: 'An identity token was signed.', responseStatus: null }
    const headers = { 'User-Agent': userAgent, Accept: '*/*', ...(header && { [header.name]: header.value }) }
    const redactor = ctx.credentialRedactors.get(hidden, '***')
    const outcome = await sender
      .send({ url, method: 'GET', headers, body: null, timeoutMs })
      .catch(async error => Promise.reject(await redactFault(error, redactor)))
    if (outcome.kind !== 'response') return failed(outcome.message)
    const { status } = outcome
    return { ok: status < 400, message: `The target answered ${status}.`, responseStatus: status }
  } catch (error) {
    if (error instanceof TokenRequestError || error instanceof CertificateError) return failed(error.message)
    throw error
  }
}

function failed(message: string): ConnectionTestOutcome {
  return { ok: false, message, responseStatus: null }
}
