import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { sampleEventLoopDelay } from '../watch-event-loop.ts'

export type { Registry }

/**
 * Opens the metrics of a process, those of Node among them. Its roles may add values to a metric of the same name.
 * @param service - The label `service` of Node's metrics.
 */
export function openRegistry(service: string): Registry {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  measureNode(registry)
  return registry
}

// Half a minute, at two samples a second.
const maxSamples = 60
// Longer than any process lives.
const neverMs = 2 ** 31 - 1

/** Exports the Node metrics of prom-client, with the event-loop delays of a monitor that lets an idle process sleep. */
function measureNode(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: neverMs })
  const delays: number[] = []
  sampleEventLoopDelay(delayMs => {
    if (delays.push(delayMs / 1000) > maxSamples) delays.shift()
  })
  const quantile = (share: number) => [...delays].sort((a, b) => a - b)[Math.ceil(delays.length * share) - 1] ?? 0
  for (const name of ['min', 'mean', 'stddev', 'p50', 'p90', 'p99', 'max']) {
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`)
  }
  for (const [name, share] of Object.entries({ p50: 0.5, p90: 0.9, p99: 0.99, max: 1 })) {
    new Gauge({
      name: `nodejs_eventloop_lag_${name}_seconds`,
      help: `The ${name} of the event loop's delays in the last half minute.`,
      registers: [registry],
      collect() {
        this.set(quantile(share))
      },
    })
  }
}
