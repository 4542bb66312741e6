import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Environment } from './config.ts'
import type { Secrets } from './secrets.ts'

export type ServiceSettings = {
  dataDir: string
  databaseUrl: string
  redisUrl: string | null
  port: number
  /** The dispatcher, which has to refuse them as targets, takes a free one for itself. */
  metricsPorts: { api: number; scheduler: number }
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
  const { api, scheduler } = settings.metricsPorts
  const metricsPort = name === 'api' ? api : name === 'scheduler' ? scheduler : 0
  const ownListeners = [given.OWN_LISTENERS, `127.0.0.1:${api}`, `127.0.0.1:${scheduler}`]
  return {
    ...workbench,
    ...given,
    DATABASE_URL: settings.databaseUrl,
    ...(settings.redisUrl ? { REDIS_URL: settings.redisUrl } : {}),
    PORT: String(settings.port),
    METRICS_PORT: String(metricsPort),
    OWN_LISTENERS: ownListeners.filter(Boolean).join(),
  }
}
