import { loadConfig as loadApi } from '@belfry/api/config'
import { loadConfig as loadDispatcher } from '@belfry/dispatcher/config'
import { version } from '@belfry/domain/version'
import { ConfigError } from '@belfry/runtime'
import { loadConfig as loadScheduler } from '@belfry/scheduler/config'
import type { Environment } from '../../config.ts'
import { type Observation, ok, problem } from '../finding.ts'

type Role = 'api' | 'scheduler' | 'dispatcher'

const loaders = { api: loadApi, scheduler: loadScheduler, dispatcher: loadDispatcher }

/**
 * Checks the variables of each service with the service's own rules. A service whose secrets are not in this environment,
 * as in a maintenance job, is left out.
 */
export function checkSettings(env: Environment): Observation[] {
  const roles = rolesOf(env)
  const problems = new Set(roles.flatMap(role => problemsOf(role, env)))
  if (problems.size === 0)
    return [ok(`Belfry ${version}, Node ${process.versions.node}: settings of ${roles.join(', ')}`)]
  return [...problems].map(text =>
    problem(text, 'Correct this variable and restart the services. See docs/configuration.md.'),
  )
}

function rolesOf(env: Environment): Role[] {
  const roles: Role[] = ['scheduler']
  if (env.ENCRYPTION_KEYS) roles.push('dispatcher')
  if (env.JWT_SECRET || env.JWT_SECRETS) roles.push('api')
  return roles
}

function problemsOf(role: Role, env: Environment): readonly string[] {
  try {
    // Without a database URL, as with the embedded PostgreSQL, another check reports the database.
    loaders[role]({ ...env, DATABASE_URL: env.DATABASE_URL || 'postgresql://127.0.0.1/postgres' })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
