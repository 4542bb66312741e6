import { join } from 'node:path'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { repositoryRoot } from './repository-root.ts'

export type ServiceName = 'api' | 'scheduler' | 'dispatcher'

/** A service, or all services in one process. */
export type ProgramName = ServiceName | 'all-in-one'

/** A process of Belfry. */
export type RunningService = RunningProcess & { name: ProgramName }

/** Starts a service from its bundle and waits until it is ready. */
export async function startService(
  name: ProgramName,
  env: Record<string, string>,
  bundle?: string,
): Promise<RunningService> {
  const service = spawnService(name, env, bundle)
  await service.ready
  return service
}

/** Starts a service without waiting for it. */
export function spawnService(name: ProgramName, env: Record<string, string>, bundle?: string): RunningService {
  return Object.assign(startProcess([process.execPath, bundleOf(name, bundle)], { env, hasChannel: true }), { name })
}

/** Returns the path of a program. */
export function bundleOf(name: ProgramName, bundle = 'main.mjs'): string {
  return join(repositoryRoot(), name === 'all-in-one' ? 'programs' : 'services', name, 'dist', bundle)
}
