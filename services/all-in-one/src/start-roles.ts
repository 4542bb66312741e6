import type { Host, Logger, Service } from '@belfry/runtime'
import type { LoadedRole } from './load-roles.ts'

/** Starts roles sequentially and drains them in parallel. When one role fails to drain, the others still finish. */
export async function startRoles(
  roles: readonly LoadedRole[],
  loggerOf: (role: string) => Logger,
  host: Host,
): Promise<Service> {
  const services: Service[] = []
  for (const { name, start } of roles) services.push(await start(loggerOf(name), host))
  return {
    async drain() {
      const results = await Promise.allSettled(services.map(service => service.drain()))
      const failure = results.find(result => result.status === 'rejected')
      if (failure) throw failure.reason
    },
  }
}
