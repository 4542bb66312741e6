import type { Labels } from './open-meter.ts'

/** A value of a metric, as prom-client's registry reads it. */
type Value = { metricName?: string; labels: Record<string, string | number>; value: number; exemplar?: Exemplar | null }

type Exemplar = { labelSet: { trace_id: string }; value: number; timestamp: number }

/**
 * A metric for prom-client's registry that counts in objects of its own: that library validates and hashes the labels of
 * each value, which takes more time than the rest of an attempt's metrics.
 */
abstract class Metric<Series> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  private readonly known = new Map<string, { labels: Labels; series: Series }>()

  constructor({ name, help, labelNames }: { name: string; help: string; labelNames: readonly string[] }) {
    this.name = name
    this.help = help
    this.labelNames = labelNames
  }

  abstract readonly type: 'counter' | 'histogram'
  protected abstract open(): Series
  protected abstract valuesOf(series: Series, labels: Labels): Value[]

  /** Returns the series of some labels of a role. */
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

export class Counter extends Metric<{ count: number }> {
  readonly type = 'counter'

  protected open() {
    return { count: 0 }
  }

  protected valuesOf({ count }: { count: number }, labels: Labels): Value[] {
    return [{ labels, value: count }]
  }
}

export class Histogram extends Metric<Distribution> {
  readonly type = 'histogram'
  private readonly bounds: readonly number[]

  /** @param definition.buckets - Upper bounds, ascending. */
  constructor(definition: { name: string; help: string; labelNames: readonly string[]; buckets: readonly number[] }) {
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
