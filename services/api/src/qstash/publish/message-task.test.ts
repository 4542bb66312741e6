import { expect, it } from 'vitest'
import { readOptions } from './message-options.ts'
import { toBody } from './message-task.ts'

it('gives the queue of a flow-control key its period in whole milliseconds', () => {
  const flowControl = { 'upstash-flow-control-key': 'k', 'upstash-flow-control-value': 'rate=5,period=2.01s' }
  const { queue } = toBody({ url: 'https://example.com/' }, readOptions(flowControl), {})
  expect(queue).toMatchObject({ rate_limit: { count: 5, period_ms: 2_010 } })
})
