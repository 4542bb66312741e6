export { type Batch, type MicroBatch, microBatch, openBatch } from './batch.ts'
export { every, everyInTurn, type Loop } from './every.ts'
export { failpoint } from './failpoint.ts'
export { readiness } from './health.ts'
export { type Host, openHost } from './host.ts'
export { listen } from './listen.ts'
export { createLogger, frequentLine, type Logger, openLog } from './logger.ts'
export { countQueueAway, measureBatches, measureDependencies, measurePool, reportBuild } from './metrics/measure.ts'
export { type Labels, type Meter, openMeter, type Reading } from './metrics/open-meter.ts'
export { exposeMetrics } from './metrics/registry.ts'
export type { OperatorListen } from './operator-port.ts'
export { ConfigError, readConfig } from './read-config.ts'
export { failToStart, runRole, runService, type Service } from './run-service.ts'
export {
  entriesOf,
  integer,
  listenHost,
  parsedBy,
  port,
  publicUrl,
  serviceSettings,
  serviceVariables,
  tracingSettings,
  wantsTracing,
} from './settings.ts'
export type { Span, Tracing } from './tracing/open-tracing.ts'
export { installVirtualDate, machineTime, setVirtualTime, steadyTime } from './virtual-clock/time.ts'
export type {
  ClockReading,
  DueTask,
  DueWork,
  VirtualClock,
  VirtualRole,
} from './virtual-clock/virtual-clock.ts'
export { createWaker, type Waker } from './waker.ts'
export { watchClockSkew } from './watch-clock-skew.ts'
export { withinMs } from './within-ms.ts'
