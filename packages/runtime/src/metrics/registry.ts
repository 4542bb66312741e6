import { type Metric, Registry as PromRegistry } from 'prom-client'
import { measureNode } from './measure-node.ts'
import type { Labels } from './open-meter.ts'

/** The values of one metric, as prom-client writes them. */
export type Values = Array<{ metricName?: string; labels: Labels; value: number }>

/** All metrics of a process. Its roles may each add values to a metric of the same name. */
export type Registry = {
  register(name: string, help: string, type: string, read: () => Values | Promise<Values>): void
  /** The names of all metrics. */
  names(): string[]
  /** All of them in the text format of Prometheus. */
  text(): Promise<string>
  readonly contentType: string
}

/**
 * Opens the metrics of a process, those of Node among them.
 * @param service - The label `service` of Node's metrics.
 */
export function openRegistry(service: string): Registry {
  const registry = new PromRegistry()
  registry.setDefaultLabels({ service })
  const readers = new Map<string, Array<() => Values | Promise<Values>>>()

  const register: Registry['register'] = (name, help, type, read) => {
    const known = readers.get(name)
    if (known) return void known.push(read)
    const all = [read]
    readers.set(name, all)
    const get = async () => ({ name, help, type, values: (await Promise.all(all.map(one => one()))).flat() })
    // All that the registry asks of a metric. Those of prom-client cost more to count one thing than an attempt may.
    registry.registerMetric({ name, help, type, get } as unknown as Metric)
  }

  measureNode(registry, register)
  return {
    register,
    names: () => registry.getMetricsAsArray().map(({ name }) => name),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
