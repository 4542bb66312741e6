import { hosts, resetHost } from '@belfry/contract/host'
import { requestCircuitReset } from '@belfry/db/dispatchers/host-circuits'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { accepted, ok } from '../http/reply.ts'
import { readHosts } from './read-hosts.ts'

export const listHosts = endpoint({
  right: 'host.read',
  summary: 'List the hosts that tasks of a workspace call, with their health',
  answer: { status: 200, body: hosts },
  async handle(ctx, { caller }) {
    return ok(await readHosts(ctx.pool, caller.workspaceId, ctx.clock.now()))
  },
})

export const resetCircuit = endpoint({
  right: 'host.reset',
  summary: 'Close the circuit breaker of a host',
  answer: { status: 202, body: resetHost },
  async handle(ctx, { caller, request }) {
    const host = String(request.params.host)
    if (host.includes('\0')) throw notFound() // PostgreSQL has no such text
    const { workspaceId } = caller
    const dispatchers = await inTransaction(ctx.pool, async tx => {
      const found = await requestCircuitReset(tx, { workspaceId, host })
      if (found === 0) throw notFound()
      await audit(tx, caller, { action: 'host.reset', objectId: host })
      return found
    })
    return accepted({ dispatchers })
  },
})
