import type { Logger } from './logger.ts'
import { openRegistry, type Registry } from './metrics/registry.ts'
import { type OperatorListen, type OperatorPort, openOperatorPort } from './operator-port.ts'
import { openTracing, type ProcessTracing } from './tracing/open-tracing.ts'
import type { VirtualClock } from './virtual-clock/virtual-clock.ts'

/** What the roles of a process share. */
export type Host = {
  /** Aborted when the process must stop. */
  stop: AbortSignal
  registry: Registry
  /** Null when tracing is off. */
  tracing: ProcessTracing | null
  /** The ports that the process listens on. Targets must not use them. */
  ports: Set<number>
  /** Null for a process without an operator port. */
  operators: OperatorPort | null
  /** Only in the build for tests. */
  virtualClock?: VirtualClock
}

export type HostOptions = {
  /** Not empty. */
  roles: readonly string[]
  /** Where the operator port listens; port 0 means any free port. Null disables it. */
  operatorListen: OperatorListen | null
  traces: boolean
}

/** Opens what the roles of a process share. The label `service` of Node's metrics is the only role, or `belfry`. */
export async function openHost(
  log: Logger,
  stop: AbortSignal,
  { roles, operatorListen, traces }: HostOptions,
): Promise<Host & { close(): Promise<void> }> {
  const ports = new Set<number>()
  const registry = openRegistry(roles.length === 1 ? String(roles[0]) : 'belfry')
  const tracing = traces ? await openTracing(log) : null
  const operators = operatorListen === null ? null : await openOperatorPort(operatorListen, roles, registry, ports)
  return {
    stop,
    registry,
    tracing,
    ports,
    operators,
    async close() {
      operators?.close()
      await tracing?.close()
    },
  }
}
