import { isDeepStrictEqual } from 'node:util'
import { Gauge } from 'prom-client'
import { withinMs } from '../within-ms.ts'
import { openRegistry, type Registry } from './registry.ts'
import { Counter, Histogram } from './series.ts'

/** Values of labels. Each label has few values: never an id, a host or a URL. */
export type Labels = Readonly<Record<string, string>>

/** The values of a gauge, each with its labels. */
export type Reading = ReadonlyArray<readonly [labels: Labels, value: number]>

/** The metrics of a role. */
export type Meter = {
  counter(name: string, help: string): (by?: number) => void
  /** @param known - Labels that are exported from the start, with zero. Default: none. */
  counters(
    name: string,
    help: string,
    labelNames: readonly string[],
    known?: readonly Labels[],
  ): (labels: Labels, by?: number) => void
  /**
   * @param buckets - Upper bounds, ascending.
   * @returns A function that counts a value. With the `traceparent` of a sampled trace, that trace becomes the exemplar of
   * the value's bucket.
   */
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
  ): (value: number, traceparent?: string | null) => void
  histograms(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly string[],
  ): (labels: Labels, value: number, traceparent?: string | null) => void
  /** Reads the value at each scrape. The gauge is missing from a scrape when the value cannot be read within two seconds. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  gauges(name: string, help: string, labelNames: readonly string[], read: () => Reading | Promise<Reading>): void
}

type Definition = {
  type: 'counter' | 'histogram' | 'gauge'
  name: string
  help: string
  labelNames: readonly string[]
  buckets?: readonly number[]
}

/**
 * Opens the metrics of a role, each with the name of the role as the label `service`. Throws when another role of the
 * process has defined a metric of the same name differently.
 * @param registry - The metrics of the process. Default: a registry for this role alone.
 */
export function openMeter(service: string, registry: Registry = openRegistry(service)): Meter {
  // Another role of the process may have opened the metric already.
  function once<T extends object>(open: (definition: Definition) => T, definition: Definition): T {
    const known = registry.getSingleMetric(definition.name) as (T & { definition: Definition }) | undefined
    if (known === undefined) {
      const metric = Object.assign(open(definition), { definition })
      registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0])
      return metric
    }
    if (isDeepStrictEqual(known.definition, definition)) return known
    throw new Error(`Two roles define the metric ${definition.name} differently.`)
  }

  const counters: Meter['counters'] = (name, help, labelNames, known = []) => {
    const counter = once(definition => new Counter(definition), { type: 'counter', name, help, labelNames })
    for (const labels of known) counter.of(labels, service)
    return (labels, by = 1) => {
      counter.of(labels, service).count += by
    }
  }

  const openHistogram = (name: string, help: string, buckets: readonly number[], labelNames: readonly string[]) =>
    once(definition => new Histogram({ buckets, ...definition }), {
      type: 'histogram',
      name,
      help,
      labelNames,
      buckets,
    })

  const gauges: Meter['gauges'] = (name, help, labelNames, read) => {
    const gauge = once(openGauge, { type: 'gauge', name, help, labelNames })
    gauge.readers.push(async () =>
      (await read()).map(([labels, value]) => [Object.assign({}, labels, { service }), value]),
    )
  }

  return {
    counters,
    counter(name, help) {
      const count = counters(name, help, [], [{}])
      return by => count({}, by)
    },
    histogram(name, help, buckets) {
      const values = openHistogram(name, help, buckets, []).of({}, service)
      return (value, traceparent) => values.observe(value, traceparent)
    },
    histograms(name, help, buckets, labelNames) {
      const histogram = openHistogram(name, help, buckets, labelNames)
      return (labels, value, traceparent) => histogram.of(labels, service).observe(value, traceparent)
    },
    gauges,
    gauge: (name, help, read) => gauges(name, help, [], async () => [[{}, await read()]]),
  }
}

const maxReadingMs = 2_000

function openGauge({ name, help, labelNames }: Definition) {
  const readers: Array<() => Promise<Reading>> = []
  const read = (reader: () => Promise<Reading>) => withinMs(maxReadingMs, reader).catch(() => [])
  async function collect(this: Gauge) {
    const readings = await Promise.all(readers.map(read))
    this.reset()
    for (const [labels, value] of readings.flat()) this.set(labels, value)
  }
  return Object.assign(new Gauge({ name, help, labelNames: [...labelNames, 'service'], registers: [], collect }), {
    readers,
  })
}
