import { randomBytes } from 'node:crypto'
import { freePort } from '@belfry/embedded'
import { serviceUrl } from '@belfry/test-support/service-url'
import { type ProgramName, type RunningService, startService } from './processes.ts'

export type QueueBackend = 'redis' | 'postgres'

export type InstallationOptions = {
  /** Default: an API, a scheduler and a dispatcher. */
  services?: ProgramName[]
  env?: Record<string, string>
  hostname?: string
}

/** The processes of an installation. */
export type Installation = {
  url: string
  services: RunningService[]
  start(name: ProgramName, env?: Record<string, string>): Promise<RunningService>
}

/** Starts the processes of an installation, each with its database role. */
export async function startInstallation(
  databaseUrl: string,
  redisUrl: string | null,
  { services: names = ['api', 'scheduler', 'dispatcher'], env: given, hostname = '127.0.0.1' }: InstallationOptions,
): Promise<Installation> {
  const port = await freePort()
  const url = `http://${hostname}:${port}`
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    // Tests need more than the one account that may register by default, and have no operator.
    REGISTRATION: 'open',
    TIER_CHANGES: 'owner',
    DEFAULT_TIER: 'unicorn',
    ...given,
  }
  const services: RunningService[] = []
  const start = async (name: ProgramName, more: Record<string, string> = {}) => {
    const service = await startService(name, { ...env, DATABASE_URL: serviceUrl(databaseUrl, name), ...more })
    services.push(service)
    return service
  }
  await Promise.all(names.map(name => start(name)))
  return { url, services, start }
}
