import { isIP } from 'node:net'
import { z } from 'zod'

/** A TCP port; 0 means any free port. */
export const port = integer(0, 65_535)

/** `HOST` and `METRICS_HOST`: the address to listen on. Default: loopback; the images listen on all addresses. */
export const listenHost = z
  .string()
  .refine(host => host === 'localhost' || isIP(host) !== 0, 'must be an IP address, such as 0.0.0.0 or ::')
  .default('127.0.0.1')

/** `PUBLIC_URL`, as an origin. Cookies with the prefix `__Host-`, pages and well-known documents need the root of a host. */
export const publicUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) URL' })
  .transform(text => new URL(text))
  .refine(
    ({ href, origin }) => href === `${origin}/`,
    'must be an origin such as https://belfry.example.com: Belfry needs a host name of its own, and works below no path',
  )
  .transform(({ origin }) => origin)

export const serviceVariables = {
  DATABASE_URL: z
    .string('is required: a postgresql:// URL')
    .regex(/^postgres(ql)?:\/\//, 'must be a postgresql:// URL'),
  /** The Redis or cluster that holds the queue. Without it PostgreSQL is the queue. */
  REDIS_URL: z
    .string()
    .regex(
      /^(rediss?:\/\/|rediss?\+cluster:\/\/(.*@)?[^,@/:]+(:\d+)?(,[^,@/:]+(:\d+)?)*\/?$)/,
      'must be a redis:// or rediss:// URL, or redis+cluster:// with some nodes of a cluster',
    )
    .nullable()
    .default(null),
  QUEUE_SHARDS: integer(1, 64).default(1),
  METRICS_HOST: listenHost,
  METRICS_PORT: port.default(9090),
  /** The bearer token of `/metrics`, and of all but the status of `/readyz`, on the operator port. Null: anyone who reaches it. */
  METRICS_TOKEN: z.string().min(16, 'must have at least 16 characters').nullable().default(null),
  /** The commit of the build. The images set it. */
  BELFRY_REVISION: z.string().max(64).default('unknown'),
  /** How long a stopping process waits for the calls in flight. */
  DRAIN_SECONDS: integer(1, 930).default(25),
  /** Lets tests move the time, in the build for tests only. */
  VIRTUAL_CLOCK: z
    .enum(['on', 'off'], 'must be on or off')
    .default('off')
    .refine(value => value === 'off' || __VIRTUAL_CLOCK__, 'is not part of this build: use @belfry/testing'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
}

export function serviceSettings(env: z.output<z.ZodObject<typeof serviceVariables>>) {
  return {
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    queueShards: env.QUEUE_SHARDS,
    operatorListen: { host: env.METRICS_HOST, port: env.METRICS_PORT, token: env.METRICS_TOKEN },
    revision: env.BELFRY_REVISION,
    drainMs: env.DRAIN_SECONDS * 1000,
    logLevel: env.LOG_LEVEL,
  }
}

/** OpenTelemetry's own variables that turn tracing on. Default: off. */
export const tracingSettings = {
  /** The URL of the collector, for OTLP over HTTP. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
}

export function wantsTracing(env: z.output<z.ZodObject<typeof tracingSettings>>): boolean {
  return (env.OTEL_TRACES_EXPORTER ?? (env.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'none')) === 'otlp'
}

/** Returns the entries of a comma-separated list, without spaces around them and empty ones. */
export function entriesOf(list: string): string[] {
  const entries = list.split(',').map(entry => entry.trim())
  return entries.filter(Boolean)
}

/** A whole number as text, from `min` to `max`. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform(Number)
    .refine(value => value >= min && value <= max, message)
}

/**
 * A text that `parse` turns into a value. The message of an error that it throws becomes the problem of the variable.
 * @param missing - The problem when the variable is missing.
 */
export function parsedBy<T>(parse: (text: string) => T, missing = 'is required') {
  return z.string(missing).transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
      return z.NEVER
    }
  })
}
