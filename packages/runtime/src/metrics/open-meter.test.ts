import { expect, it } from 'vitest'
import { openMeter } from './open-meter.ts'

const linesOf = async (meter: ReturnType<typeof openMeter>, name: string) =>
  (await meter.text()).split('\n').filter(line => line.startsWith(name))

it('writes what it has counted, with the labels that it was counted with', async () => {
  const meter = openMeter('api')
  const count = meter.counters('belfry_things_total', 'Things.', [{ kind: 'seen', size: 'big' }])
  count({ kind: 'lost', size: 'small' }, 3)
  count({ kind: 'lost', size: 'small' })
  const countAll = meter.counter('belfry_all_total', 'All.')
  countAll()
  countAll(4)
  expect(await linesOf(meter, 'belfry_')).toEqual([
    'belfry_things_total{kind="seen",size="big",service="api"} 0',
    'belfry_things_total{kind="lost",size="small",service="api"} 4',
    'belfry_all_total{service="api"} 5',
  ])
})

it('writes a histogram as Prometheus reads it: each bucket holds those below it', async () => {
  const meter = openMeter('api')
  const time = meter.histogram('belfry_time_seconds', 'Time.', [0.1, 1])
  for (const value of [0.1, 0.05, 0.5, 7]) time(value)
  const timeOf = meter.histograms('belfry_step_seconds', 'Time.', [1])
  timeOf({ step: 'first' }, 2)
  const text = await meter.text()
  expect(text).toContain('# TYPE belfry_time_seconds histogram')
  expect(await linesOf(meter, 'belfry_')).toEqual([
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

it('leaves out what cannot be read, and tells the rest', async () => {
  const meter = openMeter('api')
  meter.gauge('belfry_far', 'Far.', () => Promise.reject(new Error('away')))
  meter.gauge('belfry_stuck', 'Stuck.', () => new Promise(() => {}))
  meter.gauges('belfry_near', 'Near.', () => [[{ side: 'left' }, 2]])
  expect(await linesOf(meter, 'belfry_')).toEqual(['belfry_near{side="left",service="api"} 2'])
})

it('tells of Node itself', async () => {
  const names = openMeter('api').names()
  expect(names).toEqual(expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']))
})
