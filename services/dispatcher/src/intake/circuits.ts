import { claimProbes, type PublishedCircuit, publishCircuits } from '@belfry/db/dispatchers/host-circuits'
import { toId } from '@belfry/domain/id'
import { steadyTime } from '@belfry/runtime'
import type { Context } from '../context.ts'
import type { CircuitChange } from '../scheduling/circuit-breaker.ts'
import type { QueueKey } from '../scheduling/queue.ts'

// For so long one dispatcher alone probes a host. When it dies, another one probes after this time.
const probesMs = 30_000
const renewMs = 20_000
// When another dispatcher probes the host.
const refusedPauseMs = 1_000

/** Logs that a circuit breaker has opened or closed, and publishes it at once. */
export function reportCircuit(ctx: Context, key: QueueKey, change: NonNullable<CircuitChange>): void {
  const { host } = key
  const workspace = toId('ws', key.workspace)
  ctx.circuitsWaker.wake()
  if (change.to === 'closed') {
    ctx.log.info({ host, workspace }, 'circuit.closed')
    return
  }
  const openMs = Math.ceil(change.until - steadyTime())
  ctx.log.warn({ host, workspace, openMs }, 'circuit.opened')
  ctx.metrics.circuitOpened()
  wakeIn(ctx, openMs + 1)
}

/**
 * Opens the circuit breaker of a host that has asked for a pause: a 429 or 503 with `Retry-After`, where
 * `HOST_RETRY_AFTER_MAX_MS` is set.
 * @param askedMs - 0: it has not asked for one.
 */
export function pauseHost(ctx: Context, key: QueueKey, askedMs: number): void {
  const ms = Math.min(askedMs, ctx.retryAfterMaxMs)
  if (ms === 0) return
  const change = ctx.hostQueues.openCircuit(key, steadyTime() + ms)
  if (change) reportCircuit(ctx, key, change)
}

/**
 * Shares circuit breakers with the other dispatchers. Publishes changed breakers, opens and closes breakers that
 * another dispatcher, a user or an operator has opened or closed, applies the pauses of hosts, and asks PostgreSQL
 * which dispatcher may probe a host. While all breakers are closed, this is one short query.
 * @returns How many breakers and pauses have changed.
 */
export async function shareCircuits(ctx: Context): Promise<number> {
  const known = ctx.hostQueues.openCircuits()
  const published = known.map(({ workspace, host, openUntil }) => {
    return { workspaceId: workspace, host, openForMs: openUntil - steadyTime() }
  })
  const { resets, opened, paused } = await publishCircuits(ctx.pool, ctx.dispatcher.id, published)
  const moved = ctx.hostQueues.setPaused(paused.map(({ workspaceId: workspace, host }) => ({ workspace, host })))
  for (const { workspace, host } of moved) {
    const isPaused = paused.some(one => one.workspaceId === workspace && one.host === host)
    ctx.log.info({ host, workspace: toId('ws', workspace) }, isPaused ? 'host.paused' : 'host.resumed')
  }
  for (const { workspaceId: workspace, host } of resets) {
    ctx.hostQueues.resetCircuit({ workspace, host })
    ctx.log.info({ host, workspace: toId('ws', workspace) }, 'circuit.reset')
  }
  const adopted = opened.filter(circuit => adopt(ctx, circuit))
  const allowed = await probeHosts(ctx)
  return moved.length + resets.length + adopted.length + allowed
}

function adopt(ctx: Context, { workspaceId: workspace, host, openForMs }: PublishedCircuit): boolean {
  const key = { workspace, host }
  const change = ctx.hostQueues.openCircuit(key, steadyTime() + openForMs)
  if (change === null) return false
  ctx.log.info({ host, workspace: toId('ws', workspace), openMs: Math.ceil(openForMs) }, 'circuit.shared')
  wakeIn(ctx, openForMs + 1)
  return true
}

/** Lets this process probe the half-open hosts for which it has tasks, unless another dispatcher probes them. */
async function probeHosts(ctx: Context): Promise<number> {
  const now = steadyTime()
  const wanted = ctx.hostQueues
    .openCircuits()
    .filter(
      ({ openUntil, probesUntil, isWaiting, isProbing }) =>
        openUntil <= now && (isWaiting || isProbing) && probesUntil < now + renewMs,
    )
  if (wanted.length === 0) return 0
  const hosts = wanted.map(({ workspace, host }) => ({ workspaceId: workspace, host }))
  const allowed = await claimProbes(ctx.pool, ctx.dispatcher.id, hosts, probesMs)
  for (const { workspaceId: workspace, host } of allowed)
    ctx.hostQueues.allowProbes({ workspace, host }, now + probesMs)
  if (allowed.length < wanted.length) wakeIn(ctx, refusedPauseMs)
  return allowed.length
}

function wakeIn(ctx: Context, ms: number): void {
  setTimeout(ctx.circuitsWaker.wake, Math.max(0, ms)).unref()
}
