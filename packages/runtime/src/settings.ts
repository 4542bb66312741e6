import { z } from 'zod'

/** `DATABASE_URL`: the PostgreSQL that holds everything. Required. */
export const databaseUrl = z
  .string('is required: a postgresql:// URL')
  .regex(/^postgres(ql)?:\/\//, 'must be a postgresql:// URL')

/** `REDIS_URL`: the Redis or cluster that holds the queue. Without it PostgreSQL is the queue. */
export const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/|rediss?\+cluster:\/\/(.*@)?[^,@/:]+(:\d+)?(,[^,@/:]+(:\d+)?)*\/?$)/,
    'must be a redis:// or rediss:// URL, or redis+cluster:// with some nodes of a cluster',
  )
  .nullable()
  .default(null)

/** `QUEUE_SHARDS`: the number of shards of the dispatch queue on Redis. Default 1. */
export const queueShards = integer(1, 64).default(1)

/** `LOG_LEVEL`: the minimum level of log lines. Default `info`. */
export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info')

/** OpenTelemetry's own variables that turn tracing on. Default: off. */
export const tracingSettings = {
  /** The URL of the collector, for OTLP over HTTP. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
}

/** Returns whether tracing is on. */
export function wantsTracing(env: {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  OTEL_TRACES_EXPORTER?: string | undefined
}): boolean {
  return (env.OTEL_TRACES_EXPORTER ?? (env.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'none')) === 'otlp'
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

/** A TCP port; 0 means any free port. */
export const port = integer(0, 65_535)

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
