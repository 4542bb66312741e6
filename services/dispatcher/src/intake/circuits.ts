import { publishCircuits } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { CircuitChange, QueueKey } from '../scheduling/host-queues.ts'
import type { IntakeContext } from './intake-context.ts'

/**
 * Logs that a circuit breaker has opened or closed.
 * @param onHalfOpen - Called when an open one has become half-open, and a probe may start.
 */
export function reportCircuit(
  ctx: IntakeContext,
  { host, workspace }: QueueKey,
  change: NonNullable<CircuitChange>,
  onHalfOpen: () => void,
): void {
  const about = { host, workspace: toId('ws', workspace) }
  if (change.to === 'closed') {
    ctx.log.info(about, 'circuit.closed')
    return
  }
  const openMs = Math.ceil(change.until - performance.now())
  ctx.log.warn({ ...about, openMs }, 'circuit.opened')
  ctx.metrics.circuitOpened()
  const probe = () => {
    ctx.hostQueues.unblock(host)
    onHalfOpen()
  }
  setTimeout(probe, openMs + 1).unref()
}

/**
 * Opens the chore that publishes which circuit breakers are open, and closes those that a user or an operator has reset.
 * While none is open, a round costs nothing.
 * @returns A function that runs a round and returns how many breakers it has closed.
 */
export function openPublishCircuits(ctx: IntakeContext): () => Promise<number> {
  let wasOpen = false
  return async () => {
    const open = ctx.hostQueues.openCircuits()
    if (open.length === 0 && !wasOpen) return 0
    const now = performance.now()
    const resets = await publishCircuits(
      ctx.pool,
      ctx.dispatcher.id,
      open.map(({ workspace, host, openUntil }) => ({ workspaceId: workspace, host, openForMs: openUntil - now })),
    )
    wasOpen = open.length > 0
    for (const { workspaceId: workspace, host } of resets) {
      ctx.hostQueues.resetCircuit({ workspace, host })
      ctx.log.info({ host, workspace: toId('ws', workspace) }, 'circuit.reset')
    }
    return resets.length
  }
}
