import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from './config.ts'
import type { Secrets } from './secrets.ts'

export type ServiceSettings = {
  dataDir: string
  databaseUrl: string
  /** The URLs of the services' own roles, as variables. They replace the owner's URL. */
  roleUrls: Environment
  port: number
  /** The port of `/healthz`, `/readyz` and `/metrics`. */
  operatorPort: number
  secrets: Secrets
}

/** Returns whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/** Returns the service's environment: the user's, the settings of this installation, and development defaults. */
export function serviceEnvironment(env: Environment, settings: ServiceSettings): Environment {
  const workbench = {
    PUBLIC_URL: `http://localhost:${settings.port}`,
    ...settings.secrets,
    SMTP_URL: pathToFileURL(join(settings.dataDir, 'mail')).href,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    TIER_CHANGES: env.REGISTRATION === 'open' ? 'operator' : 'owner', // an owner may be a stranger then
    LOG_LEVEL: 'info',
    FIRST_ACCOUNT: join(settings.dataDir, 'account.json'),
    QSTASH_API: 'on',
    // The credentials of the development mode are public.
    ...(isLoopback(env.HOST || '127.0.0.1') && { QSTASH_DEV_PORT: '8080' }),
  }
  const given = Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== '' && name !== 'NODE_ENV'))
  return {
    ...workbench,
    ...given,
    ...(Object.keys(settings.roleUrls).length > 0 ? settings.roleUrls : { DATABASE_URL: settings.databaseUrl }),
    PORT: String(settings.port),
    METRICS_PORT: String(settings.operatorPort),
  }
}
