import type { HealthChecks } from '../health.ts'
import type { Logger } from '../logger.ts'
import { succeedsWithin } from '../within-ms.ts'
import type { Meter, Reading } from './open-meter.ts'

/** Exports the version and the commit of this process, and logs them. */
export function reportBuild(meter: Meter, log: Logger, build: { version: string; revision: string }): void {
  log.info(build, 'service.starting')
  meter.gauges(
    'belfry_build_info',
    'Always 1: the version and the commit of the process.',
    ['version', 'revision'],
    () => [[build, 1]],
  )
}

type VisiblePool = { totalCount: number; idleCount: number; waitingCount: number; options: { max: number } }

export function measurePool(meter: Meter, pool: VisiblePool): void {
  meter.gauges('belfry_pool_connections', 'Connections to PostgreSQL, busy or idle.', ['state'], () => [
    [{ state: 'busy' }, pool.totalCount - pool.idleCount],
    [{ state: 'idle' }, pool.idleCount],
  ])
  meter.gauge('belfry_pool_max', 'Connections that the pool may open.', () => pool.options.max)
  meter.gauge('belfry_pool_waiting', 'Statements that wait for a connection.', () => pool.waitingCount)
}

const checkTimeoutMs = 1_500

export function measureDependencies(meter: Meter, checks: HealthChecks): void {
  const help = '1 when the database or the queue answers, else 0.'
  meter.gauges('belfry_dependency_up', help, ['dependency'], async () => {
    const ask = async ([dependency, check]: [string, () => Promise<unknown>]): Promise<Reading[number]> => [
      { dependency },
      Number(await succeedsWithin(checkTimeoutMs, check)),
    ]
    return Promise.all(Object.entries(checks).map(ask))
  })
}

const sizeBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

/** Opens the sizes of batches, by the name of the batch. The API and the dispatcher export them as one metric. */
export function measureBatches(meter: Meter) {
  return meter.histograms('belfry_batch_size', 'How many tasks shared a statement.', sizeBounds, ['batch'])
}

/** Opens the count of failures to add jobs. The API and the dispatcher export it as one metric. */
export function countQueueAway(meter: Meter) {
  return meter.counter('belfry_queue_away_total', 'Failures to add jobs because the queue was away.')
}
