/** The metrics that a process exposes at `/metrics`. */
export type Scrape = {
  service: string
  /** The type of each metric. */
  types: Map<string, string>
  /** The labels of each series; a histogram has three series. */
  labels: Map<string, Set<string>>
  /** Returns the sum of the values of a series with these labels. */
  sum(series: string, labels?: Record<string, string>): number
}

/** Scrapes the metrics of a process. */
export async function scrape(service: string, port: number): Promise<Scrape> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`)
  if (response.status !== 200) throw new Error(`${service} answered ${response.status}.`)
  const lines = (await response.text()).split('\n')
  const types = new Map<string, string>()
  const labels = new Map<string, Set<string>>()
  const samples: Array<{ series: string; labels: Record<string, string>; value: number }> = []
  for (const line of lines) {
    const [, name, type] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? []
    if (name && type) types.set(name, type)
    if (line === '' || line.startsWith('#')) continue
    const {
      series = '',
      pairs = '',
      value,
    } = /^(?<series>\w+)(?:\{(?<pairs>.*)\})? (?<value>\S+)$/.exec(line)?.groups ?? {}
    const own = Object.fromEntries(
      [...pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]),
    )
    samples.push({ series, labels: own, value: Number(value) })
    labels.set(series, new Set([...(labels.get(series) ?? []), ...Object.keys(own)]))
  }
  return {
    service,
    types,
    labels,
    sum: (series, wanted = {}) =>
      samples
        .filter(one => one.series === series && Object.entries(wanted).every(([key, text]) => one.labels[key] === text))
        .reduce((sum, { value }) => sum + value, 0),
  }
}
