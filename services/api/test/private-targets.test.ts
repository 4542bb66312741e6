import { privateUrls, startReceiver } from '@belfry/testing'
import { expect, it, onTestFinished } from 'vitest'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const tasks = '/api/v1/scheduler/tasks'
const cronJobs = '/api/v1/scheduler/cronjobs'
const cronJob = { name: 'A cron job', url: 'https://example.com/', method: 'POST', cron: '0 0 1 1 *' }

async function setup() {
  const canary = await startReceiver()
  onTestFinished(() => canary.close())
  const urls = privateUrls(canary.port)
  expect(urls.length).toBeGreaterThan(100)
  return { canary, urls }
}

it('refuses each spelling of a private address where a URL is given, and calls none', async () => {
  const { canary, urls } = await setup()
  const task = await api.call('POST', tasks, aTaskBody())
  const cron = await api.call('POST', cronJobs, cronJob)
  expect([task.status, cron.status]).toEqual([201, 201])
  const accepted: string[] = []
  for (const url of urls) {
    const answers = await Promise.all([
      api.call('POST', tasks, aTaskBody({ url })),
      api.call('PATCH', `${tasks}/${task.body.id}`, { url }),
      api.call('POST', cronJobs, { ...cronJob, url }),
      api.call('PATCH', `${cronJobs}/${cron.body.id}`, { url }),
    ])
    const refused = answers.filter(({ status, body }) => status === 400 && body.errors?.[0].path === 'url')
    if (refused.length < answers.length) accepted.push(url)
  }
  expect(accepted).toEqual([])
  expect(canary.connections()).toBe(0)
})

it.each([
  'https://1.1.1.1/',
  'http://11.0.0.0/',
  'http://172.32.0.1/',
  'http://169.255.0.1/',
  'http://[2606:4700::1]/',
])('accepts the public neighbour %s', async url =>
  expect((await api.call('POST', tasks, aTaskBody({ url }))).status).toBe(201),
)
