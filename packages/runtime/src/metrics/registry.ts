import { collectDefaultMetrics, Gauge, type OpenMetricsContentType, Registry as PlainRegistry } from 'prom-client'
import { sampleEventLoopDelay } from '../watch-event-loop.ts'

/** The metrics of a process. `exposeMetrics` reads them. */
export type Registry = PlainRegistry<OpenMetricsContentType>

/**
 * Opens the metrics of a process, including Node's metrics. Its roles may add values to a metric of the same name.
 * @param service - The label `service` of Node's metrics.
 */
export function openRegistry(service: string): Registry {
  const registry = openMetricsRegistry()
  measureNode(registry, service)
  return registry
}

// Half a minute, at two samples a second.
const maxSamples = 60
// Longer than any process lives.
const neverMs = 2 ** 31 - 1

/** Exports the Node metrics of prom-client, with the event-loop delays of a monitor that lets an idle process sleep. */
function measureNode(registry: Registry, service: string): void {
  collectDefaultMetrics({ register: registry, labels: { service }, eventLoopMonitoringPrecision: neverMs })
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
      labelNames: ['service'],
      registers: [registry],
      collect() {
        this.set({ service }, quantile(share))
      },
    })
  }
}

/**
 * Returns the metrics as text: in the OpenMetrics format, with exemplars, for a reader that accepts it, and otherwise in the
 * format of Prometheus.
 * @param accept - The header `Accept` of the reader.
 */
export async function exposeMetrics(registry: Registry, accept = ''): Promise<{ contentType: string; text: string }> {
  const exposed = accept.includes('application/openmetrics-text') ? openMetricsRegistry() : new PlainRegistry()
  // Derived objects, because a registry of OpenMetrics renames its counters when it is read.
  for (const metric of registry.getMetricsAsArray()) exposed.registerMetric(Object.create(metric))
  return { contentType: exposed.contentType, text: await exposed.metrics() }
}

// Only such a registry takes metrics with exemplars.
function openMetricsRegistry(): Registry {
  const registry = new PlainRegistry<OpenMetricsContentType>()
  registry.setContentType(PlainRegistry.OPENMETRICS_CONTENT_TYPE)
  return registry
}
