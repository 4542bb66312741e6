import { withinMs } from '../within-ms.ts'
import { openRegistry, type Registry, type Values } from './registry.ts'
import { createTally, type Tally } from './tally.ts'

/** Values of labels. Each stands for few: never an id, a host or a URL. */
export type Labels = Readonly<Record<string, string>>

/** What a gauge shows, by its labels. */
export type Reading = ReadonlyArray<readonly [labels: Labels, value: number]>

/** The metrics of a role. What is counted is kept in plain numbers, and made into metrics when somebody asks. */
export type Meter = {
  counter(name: string, help: string): (by?: number) => void
  /** A counter with labels: each value that can occur may be named in advance, so that it is there with zero. */
  counters(name: string, help: string, known?: readonly Labels[]): (labels: Labels, by?: number) => void
  histogram(name: string, help: string, bounds: readonly number[]): (value: number) => void
  histograms(name: string, help: string, bounds: readonly number[]): (labels: Labels, value: number) => void
  /** A value that is read when somebody asks; there is none when it cannot be read within two seconds. */
  gauge(name: string, help: string, read: () => number | Promise<number>): void
  gauges(name: string, help: string, read: () => Reading | Promise<Reading>): void
}

const longestReadingMs = 2_000

/**
 * Opens the metrics of a role, each with its name as the label `service`.
 * @param registry - The metrics of its process. Default: those of a process with this role alone.
 */
export function openMeter(service: string, registry: Registry = openRegistry(service)): Meter {
  const register = (name: string, help: string, type: string, read: () => Values | Promise<Values>) =>
    registry.register(name, help, type, async () =>
      (await read()).map(({ labels, ...rest }) => ({ ...rest, labels: { ...labels, service } })),
    )

  const counters: Meter['counters'] = (name, help, known = []) => {
    const counts = new Map(known.map(labels => [keyOf(labels), { labels, value: 0 }]))
    register(name, help, 'counter', () => [...counts.values()])
    return (labels, by = 1) => {
      const key = keyOf(labels)
      const entry = counts.get(key)
      if (entry) entry.value += by
      else counts.set(key, { labels, value: by })
    }
  }

  const histograms: Meter['histograms'] = (name, help, bounds) => {
    const tallies = new Map<string, { labels: Labels; tally: Tally }>()
    register(name, help, 'histogram', () =>
      [...tallies.values()].flatMap(({ labels, tally }) => toValues(name, labels, tally)),
    )
    return (labels, value) => {
      const key = keyOf(labels)
      const entry = tallies.get(key) ?? { labels, tally: createTally(bounds) }
      tallies.set(key, entry)
      entry.tally.count(value)
    }
  }

  const gauges: Meter['gauges'] = (name, help, read) =>
    register(name, help, 'gauge', async () => {
      const reading = await withinMs(longestReadingMs, async () => read()).catch(() => [])
      return reading.map(([labels, value]) => ({ labels, value }))
    })

  return {
    counters,
    histograms,
    gauges,
    counter(name, help) {
      let value = 0
      register(name, help, 'counter', () => [{ labels: {}, value }])
      return (by = 1) => {
        value += by
      }
    },
    histogram(name, help, bounds) {
      const tally = createTally(bounds)
      register(name, help, 'histogram', () => toValues(name, {}, tally))
      return tally.count
    },
    gauge: (name, help, read) => gauges(name, help, async () => [[{}, await read()]]),
  }
}

function keyOf(labels: Labels): string {
  return Object.values(labels).join('\n')
}

function toValues(name: string, labels: Labels, tally: Tally): Values {
  const { upTo, values, sum } = tally.read()
  const bucket = (le: string, value: number) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value })
  return [
    ...upTo.map(([bound, value]) => bucket(String(bound), value)),
    bucket('+Inf', values),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: values },
  ]
}
