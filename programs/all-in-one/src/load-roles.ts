import { ConfigError, type Host, type Logger, type OperatorListen, type Service } from '@belfry/runtime'
import type { Environment, RoleName } from './config.ts'

export type LoadedRole = {
  name: RoleName
  config: { drainMs: number; operatorListen: OperatorListen; logLevel: string; traces?: boolean }
  start(log: Logger, host: Host): Promise<Service>
}

/**
 * Loads only the programs of the given roles, and reads their configurations.
 * @param program - The script that the dispatcher starts in separate processes for the quarantine.
 * @throws ConfigError with the problems of all roles.
 */
export async function loadRoles(names: readonly RoleName[], env: Environment, program: string): Promise<LoadedRole[]> {
  const results = await Promise.allSettled(
    names.map(async name => ({ name, ...(await loaders[name](withDatabaseOf(name, env), program)) })),
  )
  const failures = results.flatMap(result => (result.status === 'rejected' ? [result.reason] : []))
  const fault = failures.find(failure => !(failure instanceof ConfigError))
  if (fault !== undefined) throw fault
  if (failures.length > 0) throw new ConfigError([...new Set(failures.flatMap(({ problems }) => problems))])
  return results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
}

/** Returns the environment of a role. `<ROLE>_DATABASE_URL`, if set, becomes its `DATABASE_URL`. */
export function withDatabaseOf(name: RoleName, env: Environment): Environment {
  const own = `${name.toUpperCase()}_DATABASE_URL`
  if (!env[own] && !env[`${own}_FILE`]) return env
  return { ...env, DATABASE_URL: env[own], DATABASE_URL_FILE: env[`${own}_FILE`] }
}

const loaders: Record<RoleName, (env: Environment, program: string) => Promise<Omit<LoadedRole, 'name'>>> = {
  async api(env) {
    const { loadConfig, startApi } = await import('@belfry/api')
    const config = loadConfig(env)
    return { config, start: (log, host) => startApi(config, log, host) }
  },
  async scheduler(env) {
    const { loadConfig, startScheduler } = await import('@belfry/scheduler')
    const config = loadConfig(env)
    return { config, start: (log, host) => startScheduler(config, log, host) }
  },
  async dispatcher(env, program) {
    const { loadConfig, startDispatcher } = await import('@belfry/dispatcher')
    const config = loadConfig(env)
    return { config, start: (log, host) => startDispatcher(config, log, host, program) }
  },
}
