import { recordClosedCircuit, recordOpenCircuit, takeCircuitResets } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { CircuitChange, QueueKey } from '../scheduling/host-queues.ts'
import type { IntakeContext } from './intake-context.ts'

/**
 * Reports to operators that a circuit breaker has opened or closed, in the log and in the list of open ones.
 * @param onHalfOpen - Called when an open one has become half-open, and a probe may start.
 */
export function reportCircuit(
  ctx: IntakeContext,
  { host, workspace }: QueueKey,
  change: NonNullable<CircuitChange>,
  onHalfOpen: () => void,
): void {
  const about = { host, workspace: toId('ws', workspace) }
  const circuit = { dispatcher: ctx.dispatcher.id, workspaceId: workspace, host }
  const onError = (err: unknown) => ctx.log.warn({ err, ...about }, 'circuit.not_listed')
  if (change.to === 'closed') {
    ctx.log.info(about, 'circuit.closed')
    recordClosedCircuit(ctx.pool, circuit).catch(onError)
    return
  }
  const openMs = Math.ceil(change.until - performance.now())
  ctx.log.warn({ ...about, openMs }, 'circuit.opened')
  ctx.metrics.circuitOpened()
  recordOpenCircuit(ctx.pool, circuit, openMs).catch(onError)
  const probe = () => {
    ctx.hostQueues.unblock(host)
    onHalfOpen()
  }
  setTimeout(probe, openMs + 1).unref()
}

/**
 * Closes the circuit breakers that an operator has reset.
 * @returns How many there were.
 */
export async function resetCircuits(ctx: IntakeContext): Promise<number> {
  if (ctx.hostQueues.openCircuits().length === 0) return 0
  const resets = await takeCircuitResets(ctx.pool, ctx.dispatcher.id)
  for (const { workspaceId: workspace, host } of resets) {
    ctx.hostQueues.resetCircuit({ workspace, host })
    ctx.log.info({ host, workspace: toId('ws', workspace) }, 'circuit.reset')
  }
  return resets.length
}
