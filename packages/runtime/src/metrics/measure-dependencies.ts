import type { HealthChecks } from '../health.ts'
import { withinMs } from '../within-ms.ts'
import type { Meter, Reading } from './open-meter.ts'

const checkTimeoutMs = 1_500

/** Exports for each dependency whether it can be reached. */
export function measureDependencies(meter: Meter, checks: HealthChecks): void {
  const help = '1 when the database or the queue answers, else 0.'
  meter.gauges('belfry_dependency_up', help, ['dependency'], async () => {
    const ask = async ([dependency, check]: [string, () => Promise<unknown>]): Promise<Reading[number]> => {
      const isUp = await withinMs(checkTimeoutMs, check).then(
        () => 1,
        () => 0,
      )
      return [{ dependency }, isUp]
    }
    return Promise.all(Object.entries(checks).map(ask))
  })
}
