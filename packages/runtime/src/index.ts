export { every, type Loop } from './every.ts'
export { failpoint } from './failpoint.ts'
export { type HealthChecks, type Readiness, readiness } from './health.ts'
export { type Host, openHost } from './host.ts'
export { createLogger, type Logger, openLog, withoutRedaction } from './logger.ts'
export { measureDependencies } from './metrics/measure-dependencies.ts'
export { measurePool } from './metrics/measure-pool.ts'
export { type Labels, type Meter, openMeter, type Reading } from './metrics/open-meter.ts'
export { type MicroBatch, type MicroBatchOptions, microBatch } from './micro-batch.ts'
export { ConfigError, readConfig } from './read-config.ts'
export { failToStart, runService, type Service } from './run-service.ts'
export {
  databaseUrl,
  integer,
  logLevel,
  parsedBy,
  port,
  queueShards,
  redisUrl,
  tracingSettings,
  wantsTracing,
} from './settings.ts'
export type { NewSpan, Span, Tracing } from './tracing/open-tracing.ts'
export { createWaker, type Waker } from './waker.ts'
export { watchClockSkew } from './watch-clock-skew.ts'
