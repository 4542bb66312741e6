import { isDeepStrictEqual } from 'node:util'
import { Gauge } from 'prom-client'
import { withinMs } from '../within-ms.ts'
import { openRegistry, type Registry } from './registry.ts'

/** Values of labels. Each label has few values: never an id, a host or a URL. */
export type Labels = Readonly<Record<string, string>>

export type Reading = ReadonlyArray<readonly [labels: Labels, value: number]>

/** The metrics of a role. */
export type Meter = ReturnType<typeof openMeter>

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
export function openMeter(service: string, registry: Registry = openRegistry(service)) {
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

  /** @param known - Labels that are exported from the start, with zero. Optional. */
  function counters(name: string, help: string, labelNames: readonly string[], known: readonly Labels[] = []) {
    const counter = once(definition => new Counter(definition), { type: 'counter', name, help, labelNames })
    for (const labels of known) counter.of(labels, service)
    return (labels: Labels, by = 1): void => {
      counter.of(labels, service).count += by
    }
  }

  function openHistogram(name: string, help: string, buckets: readonly number[], labelNames: readonly string[]) {
    const definition = { type: 'histogram', name, help, labelNames, buckets } as const
    return once(one => new Histogram({ buckets, ...one }), definition)
  }

  /** Reads the values at each scrape. They are missing from a scrape when they cannot be read within two seconds. */
  function gauges(name: string, help: string, labelNames: readonly string[], read: () => Reading | Promise<Reading>) {
    const gauge = once(openGauge, { type: 'gauge', name, help, labelNames })
    gauge.readers.push(async () =>
      (await read()).map(([labels, value]) => [Object.assign({}, labels, { service }), value]),
    )
  }

  return {
    counters,
    counter(name: string, help: string) {
      const count = counters(name, help, [], [{}])
      return (by?: number): void => count({}, by)
    },
    /**
     * @param buckets - Upper bounds, ascending.
     * @returns A function that counts a value. With the `traceparent` of a sampled trace, that trace becomes the exemplar of
     * the value's bucket.
     */
    histogram(name: string, help: string, buckets: readonly number[]) {
      const values = openHistogram(name, help, buckets, []).of({}, service)
      return (value: number, traceparent?: string | null): void => values.observe(value, traceparent)
    },
    histograms(name: string, help: string, buckets: readonly number[], labelNames: readonly string[]) {
      const histogram = openHistogram(name, help, buckets, labelNames)
      return (labels: Labels, value: number, traceparent?: string | null): void =>
        histogram.of(labels, service).observe(value, traceparent)
    },
    gauges,
    gauge: (name: string, help: string, read: () => number | Promise<number>): void =>
      gauges(name, help, [], async () => [[{}, await read()]]),
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

/** A value of a metric, as prom-client's registry reads it. */
type Value = { metricName?: string; labels: Record<string, string | number>; value: number; exemplar?: Exemplar | null }

type Exemplar = { labelSet: { trace_id: string }; value: number; timestamp: number }

/**
 * A metric for prom-client's registry that counts in its own objects. prom-client validates and hashes the labels of each
 * value: that takes more time than the rest of an attempt's metrics.
 */
abstract class Metric<Series> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  private readonly known = new Map<string, { labels: Labels; series: Series }>()

  constructor({ name, help, labelNames }: Definition) {
    this.name = name
    this.help = help
    this.labelNames = labelNames
  }

  abstract readonly type: 'counter' | 'histogram'
  protected abstract open(): Series
  protected abstract valuesOf(series: Series, labels: Labels): Value[]

  of(labels: Labels, service: string): Series {
    let key = service
    for (const name of this.labelNames) key += `\n${labels[name]}`
    const known = this.known.get(key)
    if (known) return known.series
    const series = this.open()
    this.known.set(key, { labels: Object.assign({}, labels, { service }), series })
    return series
  }

  async get() {
    const values = [...this.known.values()].flatMap(({ labels, series }) => this.valuesOf(series, labels))
    return { name: this.name, help: this.help, type: this.type, values, aggregator: 'sum' }
  }
}

class Counter extends Metric<{ count: number }> {
  readonly type = 'counter'

  protected open() {
    return { count: 0 }
  }

  protected valuesOf({ count }: { count: number }, labels: Labels): Value[] {
    return [{ labels, value: count }]
  }
}

class Histogram extends Metric<Distribution> {
  readonly type = 'histogram'
  private readonly bounds: readonly number[]

  /** @param definition.buckets - Upper bounds, ascending. */
  constructor(definition: Definition & { buckets: readonly number[] }) {
    super(definition)
    this.bounds = definition.buckets
  }

  protected open() {
    return new Distribution(this.bounds)
  }

  protected valuesOf({ counts, sum, exemplars }: Distribution, labels: Labels): Value[] {
    let count = 0
    const buckets = [...this.bounds, '+Inf'].map((le, i) => {
      count += counts[i] ?? 0
      return {
        metricName: `${this.name}_bucket`,
        labels: { le, ...labels },
        value: count,
        exemplar: exemplars[i] ?? null,
      }
    })
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: count },
    ]
  }
}

/** The values of a histogram with the same labels. */
class Distribution {
  readonly counts: Float64Array
  readonly exemplars: Array<Exemplar | null>
  sum = 0
  private readonly bounds: readonly number[]

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
    this.exemplars = new Array(bounds.length + 1).fill(null)
  }

  observe(value: number, traceparent: string | null | undefined): void {
    let bucket = 0
    while (bucket < this.bounds.length && value > (this.bounds[bucket] ?? 0)) bucket++
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.sum += value
    // A trace that is not sampled cannot be opened. `trace_id` is the label that Grafana looks for.
    if (!traceparent?.endsWith('-01')) return
    const labelSet = { trace_id: traceparent.slice(3, 35) }
    this.exemplars[bucket] = { labelSet, value, timestamp: Date.now() / 1000 }
  }
}
