import { privateUrls, startReceiver } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const cronJobs = '/api/v1/scheduler/cronjobs'
const cronJob = { name: 'A cron job', url: 'https://example.com/', method: 'POST', cron: '0 0 1 1 *' }

const subscriptions = '/api/v1/scheduler/subscriptions'
const events = '/api/events'
const subscription = { topic: 'orders.*', url: 'https://example.com/' }
const event = { topic: 'orders.paid', payload: {}, target_url: 'https://example.com/' }

async function setup() {
  const canary = await startReceiver()
  onTestFinished(() => canary.close())
  const urls = privateUrls(canary.port)
  expect(urls.length).toBeGreaterThan(100)
  const stored = [
    await api.call('POST', tasks, aTaskBody()),
    await api.call('POST', cronJobs, cronJob),
    await api.call('POST', subscriptions, subscription),
  ]
  expect(stored.map(({ status }) => status)).toEqual([201, 201, 201])
  const [task, cron, sub] = stored.map(({ body }) => body.id)
  return { canary, urls, task, cron, sub }
}

type Sending = [what: string, method: string, path: string, body: (url: string) => object, field: string]

it('refuses each spelling of a private address wherever a URL is given, and calls none', async () => {
  const { canary, urls, task, cron, sub } = await setup()
  const change = (url: string) => ({ url })
  const sendings: Sending[] = [
    ['a task', 'POST', tasks, url => aTaskBody({ url }), 'url'],
    ['a changed task', 'PATCH', `${tasks}/${task}`, change, 'url'],
    ['a cron job', 'POST', cronJobs, url => ({ ...cronJob, url }), 'url'],
    ['a changed cron job', 'PATCH', `${cronJobs}/${cron}`, change, 'url'],
    ['an event', 'POST', events, url => ({ ...event, target_url: url }), 'target_url'],
    ['a subscription', 'POST', subscriptions, url => ({ ...subscription, url }), 'url'],
    ['a changed subscription', 'PATCH', `${subscriptions}/${sub}`, change, 'url'],
  ]
  const accepted: string[] = []
  for (const url of urls) {
    const answers = sendings.map(async ([what, method, path, body, field]) => {
      const answer = await api.call(method, path, body(url))
      const isRefused = answer.status === 400 && answer.body.errors?.[0].path === field
      if (!isRefused) accepted.push(`${what}: ${url}`)
    })
    await Promise.all(answers)
  }
  expect(accepted).toEqual([])
  expect(canary.connections()).toBe(0)
})

it('refuses them in every row of a batch', async () => {
  const { canary, urls } = await setup()
  const answer = await api.call('POST', `${tasks}/batch`, { tasks: urls.map(url => aTaskBody({ url })) })
  const paths = answer.body.data.map((row: Json) => row.error?.errors[0].path)
  expect(paths).toEqual(urls.map(() => 'url'))
  expect(canary.connections()).toBe(0)
})

it.each([
  'https://1.1.1.1/',
  'http://11.0.0.0/',
  'http://172.32.0.1/',
  'http://169.255.0.1/',
  'http://[2606:4700::1]/',
])('accepts the public neighbour %s', async url => {
  const answers = await Promise.all([
    api.call('POST', tasks, aTaskBody({ url })),
    api.call('POST', cronJobs, { ...cronJob, url }),
    api.call('POST', subscriptions, { ...subscription, url }),
  ])
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201])
})
