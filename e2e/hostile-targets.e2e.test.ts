import { queueBackends, type Receiver, type ReceiverOptions, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'
import { describeRun, hostilities } from './hostile-targets.ts'

const tasks = '/api/v1/scheduler/tasks'
const [backend = 'postgres'] = queueBackends()
const belfry = useBelfry(backend)
const receivers: Receiver[] = []
afterAll(() => Promise.all(receivers.map(receiver => receiver.close())))

async function receive(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await startReceiver(options)
  receivers.push(receiver)
  return receiver
}

async function create(name: string, url: string, more: object = {}): Promise<string> {
  const body = { name, url, method: 'POST', payload: 'x', execute_at: inMs(2_000), retry: { max_retries: 0 }, ...more }
  const created = await belfry.call('POST', tasks, body)
  expect(created.status).toBe(201)
  return created.body.id
}

it.concurrent.each(hostilities)(
  'an attempt whose target $name ends with $ends',
  async ({ name, receiver, ends, isEndless }) => {
    const timeout_ms = isEndless ? 2_000 : 20_000
    const id = await create(name, (await receive(receiver)).url('/'), { timeout_ms })
    const { data } = await waitFor(
      async () => (await belfry.call('GET', `/api/v1/scheduler/runs?task_id=${id}`)).body,
      body => body.data.length > 0,
      30_000,
    )
    expect(data.map(describeRun)).toEqual([ends])
    const isOdd = name === 'sends headers without end'
    const note = 'The headers of the response could not be read (more than 64 KiB).'
    expect(data[0].note).toBe(isOdd ? note : null)
  },
)

it('waits as long as a valid Retry-After asks, in either form', async () => {
  const asked: Record<string, number> = { '20': 20, ' 20.5 ': 21, '86401': 86_400, '0': 5, ['9'.repeat(400)]: 86_400 }
  asked[new Date(Date.now() + 45_000).toUTCString()] = 25
  asked['Thu, 31 Dec 2099 23:59:59 GMT'] = 86_400
  asked['Sun, 06 Nov 1994 08:49:37 GMT'] = 5
  for (const nonsense of ['NaN', '-20', '20.', '1e3', 'Infinity', '20, 40', 'tomorrow', '']) asked[nonsense] = 5
  const target = await receive()
  const retry = { max_retries: 3, backoff: 'fixed', base_delay_ms: 5_000 }
  for (const [index, value] of Object.keys(asked).entries()) {
    target.answer(`/${index}`, { status: index % 2 ? 429 : 503, headers: { 'retry-after': value } })
    await create(String(index), target.url(`/${index}`), { retry })
  }
  const answered = await waitFor(
    () => belfry.call('GET', `${tasks}?state=retrying&limit=100`),
    ({ body }) => body.data.length === Object.keys(asked).length,
  )
  for (const task of answered.body.data) {
    const [value, seconds] = Object.entries(asked)[Number(task.name)] ?? ['', 0]
    const delayMs = Date.parse(task.next_retry_at) - Date.parse(task.last_run.finished_at)
    // Jitter shortens only our own delay, by ten per cent, never the requested one.
    expect([value, delayMs >= seconds * (seconds === 5 ? 900 : 1_000)]).toEqual([value, true])
    expect([value, delayMs < seconds * 1_100 + 20_000]).toEqual([value, true])
  }
})
