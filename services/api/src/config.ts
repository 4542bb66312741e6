import { parseCidrs } from '@belfry/domain'
import { databaseUrl, logLevel, parsedBy, port, readConfig, redisUrl } from '@belfry/runtime'
import { z } from 'zod'

export type Config = ReturnType<typeof loadConfig>

/** Reads the API's configuration from the environment. */
export function loadConfig(env = process.env) {
  return readConfig(schema, env)
}

export const variables = z.object({
  DATABASE_URL: databaseUrl,
  REDIS_URL: redisUrl,
  PORT: port.default(3000),
  LOG_LEVEL: logLevel,
  /** Signs session tokens. */
  JWT_SECRET: z.string('is required: at least 32 random characters').min(32, 'must have at least 32 characters'),
  /** The address that users reach this service under. Default: this port on localhost. */
  PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  /** The tier of a new organization. */
  DEFAULT_TIER: z.enum(['free', 'startup', 'scaleup', 'unicorn']).default('free'),
  /** Whether callers that ask too much are refused: `on`, or `off` for tests and benchmarks. */
  RATE_LIMITS: z.enum(['on', 'off']).default('on'),
  /** Private address ranges that targets may lie in, as comma-separated CIDRs. */
  ALLOWED_PRIVATE_TARGETS: parsedBy(parseCidrs).prefault(''),
})

const schema = variables.transform(env => ({
  databaseUrl: env.DATABASE_URL,
  redisUrl: env.REDIS_URL,
  port: env.PORT,
  logLevel: env.LOG_LEVEL,
  jwtSecret: env.JWT_SECRET,
  publicUrl: new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}`).origin,
  defaultTier: env.DEFAULT_TIER,
  limitsRates: env.RATE_LIMITS === 'on',
  allowedPrivateTargets: env.ALLOWED_PRIVATE_TARGETS,
}))
