import type { Logger } from './logger.ts'
import { openRegistry } from './metrics/registry.ts'
import { type OperatorListen, openOperatorPort } from './operator-port.ts'
import { openTracing } from './tracing/open-tracing.ts'
import type { VirtualClock } from './virtual-clock/virtual-clock.ts'

/** What the roles of a process share. The virtual clock is only in the build for tests. */
export type Host = Omit<Awaited<ReturnType<typeof openHost>>, 'close'> & { virtualClock?: VirtualClock }

export type HostOptions = {
  /** Not empty. */
  roles: readonly string[]
  /** Where the operator port listens; port 0 means any free port. Null disables it. */
  operatorListen: OperatorListen | null
  traces: boolean
}

/** Opens what the roles of a process share. The label `service` of Node's metrics is the only role, or `belfry`. */
export async function openHost(log: Logger, stop: AbortSignal, { roles, operatorListen, traces }: HostOptions) {
  const ports = new Set<number>()
  const registry = openRegistry(roles.length === 1 ? String(roles[0]) : 'belfry')
  const tracing = traces ? await openTracing(log) : null
  const operators = operatorListen === null ? null : await openOperatorPort(operatorListen, roles, registry, ports)
  return {
    /** Aborted when the process must stop. */
    stop,
    registry,
    /** Null when tracing is off. */
    tracing,
    /** The ports that the process listens on. Targets must not use them. */
    ports,
    /** Null for a process without an operator port. */
    operators,
    async close(): Promise<void> {
      operators?.close()
      await tracing?.close()
    },
  }
}
