import { parseCidrs } from '@belfry/domain'
import { databaseUrl, integer, logLevel, parsedBy, port, readConfig, redisUrl } from '@belfry/runtime'
import { z } from 'zod'

export type Config = ReturnType<typeof loadConfig>

/** Reads the dispatcher's configuration from the environment. */
export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

export const variables = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  METRICS_PORT: port.default(9090),
  LOG_LEVEL: logLevel,
  /** Calls under way at a time. */
  DISPATCH_CONCURRENCY: integer(1, 10_000).default(200),
  /** Private address ranges that targets may lie in, as comma-separated CIDRs. */
  ALLOWED_PRIVATE_TARGETS: parsedBy(parseCidrs).prefault(''),
})

const schema = variables.transform(env => ({
  databaseUrl: env.DATABASE_URL,
  redisUrl: env.REDIS_URL,
  healthPort: env.METRICS_PORT,
  logLevel: env.LOG_LEVEL,
  concurrency: env.DISPATCH_CONCURRENCY,
  allowedPrivateTargets: env.ALLOWED_PRIVATE_TARGETS,
}))
