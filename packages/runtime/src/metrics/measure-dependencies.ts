import type { HealthChecks } from '../health.ts'
import { withinMs } from '../within-ms.ts'
import type { Meter, Reading } from './open-meter.ts'

const checkTimeoutMs = 1_500

/** Shows whether what a process needs can be reached. */
export function measureDependencies(meter: Meter, checks: HealthChecks): void {
  meter.gauges('belfry_dependency_up', '1 when the database or the queue answers, else 0.', async () => {
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
