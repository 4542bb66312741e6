import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionTest, connectionTest, testConnectionBody } from '@belfry/contract/connection'
import { readConnectionTest, requestConnectionTest } from '@belfry/db/connections/connection-tests'
import { audit } from '../audit/audit.ts'
import { consumeConnectionTest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { invalid } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'
import { readConnection } from './connections.ts'

const pollMs = 100
const startTimeoutMs = 5_000
// Longer than a dispatcher takes for a token and a call.
const timeoutMs = 25_000

/** Asks a dispatcher to test a connection, because no other process calls addresses of users. */
export const testConnection = endpoint({
  right: 'connection.test',
  summary: 'Test a connection: request a token, or call a URL, and report what happened',
  answer: { status: 200, body: connectionTest },
  refusals: ['rate_limited'],
  params: { ws: 'ws' },
  body: testConnectionBody,
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, body, request }) {
    const { workspaceId } = caller
    const { id, name, kind } = await readConnection(ctx, workspaceId, request)
    const hasToken = kind === 'oauth2' || kind === 'identity_token'
    if (body.url === undefined && !hasToken) {
      const message = 'url is required: a connection of this kind has no token to request.'
      throw invalid('body', [{ path: 'url', code: 'required', message }])
    }
    await consumeConnectionTest(ctx, workspaceId)
    await ctx.prisma.$transaction(tx => audit(tx, caller, { action: 'connection.tested', objectId: name }))
    const test = await requestConnectionTest(ctx.pool, workspaceId, id, body.url ?? null)
    return ok(await outcomeOf(ctx, workspaceId, test))
  },
})

async function outcomeOf(ctx: Context, workspaceId: string, id: string): Promise<ConnectionTest> {
  const startedAt = performance.now()
  for (;;) {
    const { isTaken, outcome } = await readConnectionTest(ctx.pool, workspaceId, id)
    if (outcome) return { ok: outcome.ok, message: outcome.message, response_status: outcome.responseStatus }
    const waitedMs = performance.now() - startedAt
    if (!isTaken && waitedMs > startTimeoutMs) return failed('No dispatcher has started the test within 5 seconds.')
    if (waitedMs > timeoutMs) return failed('The dispatcher has not ended the test within 25 seconds.')
    await sleep(pollMs)
  }
}

function failed(message: string): ConnectionTest {
  return { ok: false, message, response_status: null }
}
