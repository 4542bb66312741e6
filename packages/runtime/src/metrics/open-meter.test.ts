import { expect, it } from 'vitest'
import { type Meter, openMeter } from './open-meter.ts'
import { exposeMetrics, openRegistry, type Registry } from './registry.ts'

const linesOf = async (registry: Registry, name: string) =>
  (await exposeMetrics(registry)).text.split('\n').filter(line => line.startsWith(name))

it('exports each count with its labels', async () => {
  const registry = openRegistry('api')
  const meter = openMeter('api', registry)
  const count = meter.counters('belfry_things_total', 'Things.', ['kind', 'size'], [{ kind: 'seen', size: 'big' }])
  count({ kind: 'lost', size: 'small' }, 3)
  count({ kind: 'lost', size: 'small' })
  const countAll = meter.counter('belfry_all_total', 'All.')
  countAll()
  countAll(4)
  expect(await linesOf(registry, 'belfry_')).toEqual([
    'belfry_things_total{kind="seen",size="big",service="api"} 0',
    'belfry_things_total{kind="lost",size="small",service="api"} 4',
    'belfry_all_total{service="api"} 5',
  ])
})

it('exports a histogram with cumulative buckets', async () => {
  const registry = openRegistry('api')
  const meter = openMeter('api', registry)
  const time = meter.histogram('belfry_time_seconds', 'Time.', [0.1, 1])
  for (const value of [0.1, 0.05, 0.5, 7]) time(value)
  const timeOf = meter.histograms('belfry_step_seconds', 'Time.', [1], ['step'])
  timeOf({ step: 'first' }, 2)
  const { text } = await exposeMetrics(registry)
  expect(text).toContain('# TYPE belfry_time_seconds histogram')
  expect(await linesOf(registry, 'belfry_')).toEqual([
    'belfry_time_seconds_bucket{le="0.1",service="api"} 2',
    'belfry_time_seconds_bucket{le="1",service="api"} 3',
    'belfry_time_seconds_bucket{le="+Inf",service="api"} 4',
    'belfry_time_seconds_sum{service="api"} 7.65',
    'belfry_time_seconds_count{service="api"} 4',
    'belfry_step_seconds_bucket{le="1",step="first",service="api"} 0',
    'belfry_step_seconds_bucket{le="+Inf",step="first",service="api"} 1',
    'belfry_step_seconds_sum{step="first",service="api"} 2',
    'belfry_step_seconds_count{step="first",service="api"} 1',
  ])
})

it('shows sampled traces as exemplars to readers of OpenMetrics, and leaves the names of counters alone', async () => {
  const registry = openRegistry('api')
  const meter = openMeter('api', registry)
  meter.counter('belfry_things_total', 'Things.')()
  const time = meter.histogram('belfry_time_seconds', 'Time.', [0.1, 1])
  const trace = 'a'.repeat(32)
  time(0.05, `00-${trace}-${'b'.repeat(16)}-01`)
  time(0.5, `00-${trace}-${'b'.repeat(16)}-00`)
  time(7, null)
  const { text: plain } = await exposeMetrics(registry)
  const { text, contentType } = await exposeMetrics(registry, 'application/openmetrics-text;version=1.0.0,*/*;q=0.1')
  expect(contentType).toContain('application/openmetrics-text')
  expect(text).toMatch(/\n# EOF\n$/)
  expect(text).toContain('# TYPE belfry_things counter\nbelfry_things_total{service="api"} 1\n')
  expect(text.match(/ # \{.*/g)).toEqual([expect.stringMatching(`^ # {trace_id="${trace}"} 0.05 \\d+`)])
  expect(await exposeMetrics(registry)).toMatchObject({ contentType: expect.stringContaining('text/plain') })
  expect(plain).not.toContain(trace)
  expect(await linesOf(registry, 'belfry_things')).toEqual(['belfry_things_total{service="api"} 1'])
})

it('leaves out gauges that cannot be read, and exports the others', async () => {
  const registry = openRegistry('api')
  const meter = openMeter('api', registry)
  meter.gauge('belfry_far', 'Far.', () => Promise.reject(new Error('away')))
  meter.gauge('belfry_stuck', 'Stuck.', () => new Promise(() => {}))
  meter.gauges('belfry_near', 'Near.', ['side'], () => [[{ side: 'left' }, 2]])
  expect(await linesOf(registry, 'belfry_')).toEqual(['belfry_near{side="left",service="api"} 2'])
})

it('exports the metrics of Node', async () => {
  const names = openRegistry('api')
    .getMetricsAsArray()
    .map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']))
})

it('joins the metrics of several roles under one name, and exports those of Node once', async () => {
  const registry = openRegistry('belfry')
  for (const [role, slots] of [['api', 10] as const, ['dispatcher', 6] as const]) {
    openMeter(role, registry).gauge('belfry_pool_max', 'Connections.', () => slots)
  }
  expect(await linesOf(registry, 'belfry_')).toEqual([
    'belfry_pool_max{service="api"} 10',
    'belfry_pool_max{service="dispatcher"} 6',
  ])
  expect(await linesOf(registry, '# TYPE belfry_')).toEqual(['# TYPE belfry_pool_max gauge'])
  expect(await linesOf(registry, 'process_start_time_seconds')).toEqual([
    expect.stringMatching(/^process_start_time_seconds\{service="belfry"\} /),
  ])
})

it.each<[string, (meter: Meter) => void]>([
  ['help', meter => meter.histograms('belfry_size', 'Another.', [1, 2], ['batch'])],
  ['bounds', meter => meter.histograms('belfry_size', 'Sizes.', [1, 4], ['batch'])],
  ['labels', meter => meter.histograms('belfry_size', 'Sizes.', [1, 2], ['kind'])],
  ['type', meter => meter.counters('belfry_size', 'Sizes.', ['batch'])],
])('refuses a metric that another role of the process has with another %s', (_difference, open) => {
  const registry = openRegistry('belfry')
  const sizes = (role: string) => openMeter(role, registry).histograms('belfry_size', 'Sizes.', [1, 2], ['batch'])
  sizes('api')
  sizes('dispatcher')
  expect(() => open(openMeter('dispatcher', registry))).toThrow('belfry_size')
})

it('exports how long the event loop was blocked', async () => {
  const registry = openRegistry('api')
  const delays = () => linesOf(registry, 'nodejs_eventloop_lag_')
  const worst = async () => Number((await delays()).find(line => line.includes('_max_'))?.split(' ')[1])
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  await expect.poll(worst).toBeGreaterThan(0.9)
  expect(await worst()).toBeLessThan(3)
  expect((await delays()).map(line => line.split('{')[0])).toEqual(
    ['', 'p50_', 'p90_', 'p99_', 'max_'].map(part => `nodejs_eventloop_lag_${part}seconds`),
  )
})
