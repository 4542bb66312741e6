import { listOpenCircuits, type OpenCircuit, requestCircuitReset } from '@belfry/db/dispatchers/host-circuits'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { fromId, toId } from '@belfry/domain/id'
import { type Request, type Response, Router } from 'express'
import { callerAddress } from '../auth/caller-address.ts'
import type { Context } from '../context.ts'
import { notFound } from '../http/refusals.ts'
import { sendReply } from '../http/reply.ts'
import { auditAsOperator } from './audit-as-operator.ts'

/** Lists the hosts whose circuit breaker is open because calls failed, and lets operators reset one. */
export function hosts(ctx: Context): Router {
  const router = Router()
  router.get('/', async (_request, response) => {
    await sendReply(response, { status: 200, body: { data: (await listOpenCircuits(ctx.pool)).map(presentHost) } })
  })
  router.delete(
    '/:workspace/:host',
    async (request: Request<{ workspace: string; host: string }>, response: Response) => {
      const { workspace, host } = request.params
      const dispatchers = await reset(ctx, { workspace, host, address: callerAddress(request) })
      await sendReply(response, { status: 202, body: { dispatchers } })
    },
  )
  router.use(() => {
    throw new AppError(
      'method_not_allowed',
      'GET /admin/hosts lists hosts, DELETE /admin/hosts/{workspace}/{host} resets a host.',
    )
  })
  return router
}

// Each dispatcher applies the reset within two seconds.
async function reset(
  ctx: Context,
  { workspace, host, address }: { workspace: string; host: string; address: string },
): Promise<number> {
  const workspaceId = fromId('ws', workspace)
  if (workspaceId === null) throw notFound()
  return inTransaction(ctx.pool, async tx => {
    const dispatchers = await requestCircuitReset(tx, { workspaceId, host })
    if (dispatchers === 0) throw notFound()
    await auditAsOperator(tx, { workspaceId, action: 'host.reset', address }, [host])
    return dispatchers
  })
}

function presentHost({ workspaceId, host, state, since, nextProbeAt, dispatchers }: OpenCircuit) {
  const times = { since: since.toISOString(), rests_until: nextProbeAt.toISOString() }
  const shown = state === 'open' ? 'resting' : 'probing'
  return { workspace_id: toId('ws', workspaceId), host, state: shown, ...times, dispatchers }
}
