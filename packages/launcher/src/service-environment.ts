import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from './config.ts'
import type { Secrets } from './secrets.ts'

export type ServiceSettings = {
  dataDir: string
  databaseUrl: string
  redisUrl: string | null
  port: number
  /** Of the scheduler. The dispatcher, which has to refuse it as a target, takes a free one for itself. */
  metricsPort: number
  secrets: Secrets
}

/** A service's environment: the user's own, what this installation is made of, and defaults that suit a workbench. */
export function serviceEnvironment(name: string, env: Environment, settings: ServiceSettings): Environment {
  const { NODE_ENV: _, REDIS_URL: __, ...rest } = env
  const workbench = {
    PUBLIC_URL: `http://localhost:${settings.port}`,
    ...settings.secrets,
    SMTP_URL: pathToFileURL(join(settings.dataDir, 'mail')).href,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    DEFAULT_TIER: 'unicorn',
    LOG_LEVEL: 'info',
  }
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== ''))
  return {
    ...workbench,
    ...given,
    DATABASE_URL: settings.databaseUrl,
    ...(settings.redisUrl ? { REDIS_URL: settings.redisUrl } : {}),
    PORT: String(settings.port),
    METRICS_PORT: name === 'scheduler' ? String(settings.metricsPort) : '0',
    OWN_LISTENERS: [given.OWN_LISTENERS, `127.0.0.1:${settings.metricsPort}`].filter(Boolean).join(),
  }
}
