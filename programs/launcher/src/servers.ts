import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startPostgres } from '@belfry/embedded'
import type { Config, Environment } from './config.ts'
import { keepServer } from './keep-server.ts'
import type { OpenStack } from './open-stack.ts'
import { PlainError } from './plain-error.ts'

/** The database of the services, and its description for the user. */
export type Servers = {
  databaseUrl: string
  /** The URLs of the services' own roles, as variables. Empty for a database of the user, whose environment may have them. */
  roleUrls: Environment
  database: string
}

/** Starts a PostgreSQL on a port next to the API's, unless the user has set one. */
export async function startServers(config: Config, port: number, opened: OpenStack): Promise<Servers> {
  const { databaseUrl, dataDir } = config
  if (databaseUrl) return { databaseUrl, roleUrls: {}, database: withoutPassword(databaseUrl) }
  const place = { dataDir: join(dataDir, 'postgres'), logFile: join(dataDir, 'logs/postgres.log') }
  const start = (wanted: number) => startPostgres({ ...place, port: wanted })
  const postgres = await start(beside(port, 2)).catch(reason => Promise.reject(plain(reason)))
  opened.push(keepServer('PostgreSQL', postgres, start))
  const roleUrls = Object.fromEntries(
    services.map(name => [`${name.toUpperCase()}_DATABASE_URL`, roleUrl(postgres.url(), name)]),
  )
  return { databaseUrl: postgres.url(), roleUrls, database: `embedded PostgreSQL, ${postgres.url()}` }
}

const services = ['api', 'scheduler', 'dispatcher']

// The migration sets the password, at each start a new one.
function roleUrl(ownerUrl: string, service: string): string {
  const password = randomBytes(24).toString('hex')
  return Object.assign(new URL(ownerUrl), { username: `belfry_${service}`, password }).href
}

// A server fails to start for reasons outside our code, so its message is enough.
function plain(reason: unknown): PlainError {
  return new PlainError(reason instanceof Error ? reason.message : String(reason))
}

/** Returns a URL without its password. It may have several hosts. */
export function withoutPassword(address: string): string {
  return address.replace(/(:\/\/[^:/?#]*):[^/?#]*@/, '$1@')
}

/** Returns the port `distance` after another one; 0, which means any, when it does not exist. */
export function beside(port: number, distance: number): number {
  return port + distance <= 65_535 ? port + distance : 0
}
