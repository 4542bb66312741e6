import { setTimeout as sleep } from 'node:timers/promises'
import { type IntegrationTest, integrationTest } from '@belfry/contract'
import { addToOutbox, findIntegration, inTransaction, readOutboxOutcome } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import type { Message } from '@belfry/messages'
import { consumeIntegrationTest } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { ok } from '../http/reply.ts'

const timeoutMs = 10_000
// One attempt: a second one would end after the response.
const usefulMs = 5_000
const pollMs = 100

// The dispatcher sends it like every alert: only dispatchers call addresses that users chose.
export const testIntegration = endpoint({
  right: 'integration.write',
  summary: 'Send a test message, and report within ten seconds whether it arrived',
  answer: { status: 200, body: integrationTest },
  refusals: ['rate_limited'],
  params: { ws: 'ws', int: 'int' },
  async handle(ctx, { caller: { workspaceId }, params: { int: integrationId } }) {
    const integration = await findIntegration(ctx.pool, workspaceId, integrationId)
    if (!integration) throw notFound()
    await consumeIntegrationTest(ctx, workspaceId)
    const { name } = await ctx.prisma.workspace.findUniqueOrThrow({ where: { id: workspaceId } })
    const at = new Date(ctx.clock.now()).toISOString()
    const about = { workspace: { id: toId('ws', workspaceId), name }, count: 0, items: [] }
    const message: Message = { type: 'alert', workspaceId, integrationId, alert: { event: 'test', at, ...about } }
    const id = newUuid()
    const kind = integration.channel === 'email' ? 'mail' : 'webhook'
    const stored = { id, kind, label: 'integration test', content: JSON.stringify(message), masterKeys: null } as const
    await inTransaction(ctx.pool, tx => addToOutbox(tx, { ...stored, usefulMs }))
    return ok(await outcomeOf(ctx, id))
  },
})

async function outcomeOf(ctx: Context, id: string): Promise<IntegrationTest> {
  for (const giveUpAt = performance.now() + timeoutMs; performance.now() < giveUpAt; await sleep(pollMs)) {
    const outcome = await readOutboxOutcome(ctx.pool, id)
    if (outcome) return { delivered: outcome.sent, error: outcome.error }
  }
  return { delivered: false, error: 'It did not arrive within ten seconds.' }
}
