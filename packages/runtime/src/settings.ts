import { z } from 'zod'

/** `DATABASE_URL`: the PostgreSQL that holds everything. Required. */
export const databaseUrl = z
  .string('is required: a postgresql:// URL')
  .regex(/^postgres(ql)?:\/\//, 'must be a postgresql:// URL')

/** `REDIS_URL`: the Redis, or the cluster, that holds the queue. Without it the queue lives in PostgreSQL. */
export const redisUrl = z
  .string()
  .regex(
    /^(rediss?:\/\/|rediss?\+cluster:\/\/(.*@)?[^,@/:]+(:\d+)?(,[^,@/:]+(:\d+)?)*\/?$)/,
    'must be a redis:// or rediss:// URL, or redis+cluster:// with some nodes of a cluster',
  )
  .nullable()
  .default(null)

/** `QUEUE_SHARDS`: how many parts the queue of due tasks has on Redis. Default 1. */
export const queueShards = integer(1, 64).default(1)

/** `LOG_LEVEL`: the least important lines that are still written. Default `info`. */
export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info')

/** OpenTelemetry's own variables, as far as they decide whether there are traces. Default: there are none. */
export const tracingSettings = {
  /** The collector of traces, by OTLP over HTTP. */
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http(s) URL' }).optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none'], 'must be otlp or none').optional(),
}

/** Whether an environment asks for traces. */
export function wantsTracing(env: {
  OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined
  OTEL_TRACES_EXPORTER?: string | undefined
}): boolean {
  return (env.OTEL_TRACES_EXPORTER ?? (env.OTEL_EXPORTER_OTLP_ENDPOINT ? 'otlp' : 'none')) === 'otlp'
}

/** A whole number written as text, within bounds. */
export function integer(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d+$/, message)
    .transform(Number)
    .refine(value => value >= min && value <= max, message)
}

/** A TCP port; 0 takes any free one. */
export const port = integer(0, 65_535)

/**
 * A text that a rule turns into a value; what the rule throws is what is wrong with the variable.
 * @param missing - What to say when it is not there.
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
