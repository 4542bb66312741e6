import { type MasterKeys, parseMasterKeys, readSecretFiles } from '@belfry/vault'
import { urlsOfHosts } from '../postgres/database-hosts.ts'
import { type ServiceName, serviceNames, serviceRoles } from './service-rights.ts'
import type { Logins } from './set-up-roles.ts'

/**
 * Reads DATABASE_URL, the address of the database to migrate: `postgresql://user:password@host:5432/name`, or with
 * several hosts separated by commas.
 */
export function readDatabaseUrl(): string {
  const databaseUrl = read('DATABASE_URL')
  if (!databaseUrl) throw new Error('DATABASE_URL is not set.')
  if (!/^postgres(ql)?:\/\//.test(databaseUrl) || !urlsOfHosts(databaseUrl).every(url => URL.canParse(url))) {
    throw new Error('DATABASE_URL is not a URL that starts with postgresql://.')
  }
  return databaseUrl
}

/**
 * Reads API_DATABASE_URL, SCHEDULER_DATABASE_URL and DISPATCHER_DATABASE_URL: the passwords of the services' roles. A
 * service without a separate URL, or with the user of DATABASE_URL, does not get a role.
 */
export function readLogins(databaseUrl: string): Logins {
  const owner = new URL(databaseUrl).username
  return Object.fromEntries(
    serviceNames.flatMap(service => {
      const password = readPassword(service, owner)
      return password === null ? [] : [[service, password]]
    }),
  )
}

export function readMasterKeys(): MasterKeys {
  const text = read('ENCRYPTION_KEYS')
  if (!text) throw new Error('ENCRYPTION_KEYS is not set.')
  try {
    return parseMasterKeys(text)
  } catch (error) {
    throw new Error(`ENCRYPTION_KEYS ${error instanceof Error ? error.message : error}.`, { cause: error })
  }
}

function readPassword(service: ServiceName, owner: string): string | null {
  const name = `${service.toUpperCase()}_DATABASE_URL`
  const text = read(name)
  if (!text) return null
  const [first = ''] = urlsOfHosts(text)
  const url = URL.canParse(first) ? new URL(first) : null
  if (url?.username === owner) return null
  if (url?.username !== serviceRoles[service] || !url.password) {
    throw new Error(`${name} must be a postgresql:// URL with the user ${serviceRoles[service]} and a password.`)
  }
  return decodeURIComponent(url.password)
}

function read(name: string): string | undefined {
  const { env, problems } = readSecretFiles(process.env)
  const problem = problems.find(one => one.startsWith(`${name}_FILE:`))
  if (problem !== undefined) throw new Error(problem)
  return env[name]
}
