import { Belfry, webhooks } from '@belfry/client'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callApi } from './api-calls.ts'
import { useBelfry } from './belfry.ts'

// What newcomers do wrong, and the words of the answer that help them. Mistakes on the command line are in the CLI's own table.

const belfry = useBelfry('postgres')
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
})
afterAll(() => target?.close())

const tasks = '/api/v1/scheduler/tasks'
const cronJobs = '/api/v1/scheduler/cronjobs'
const task = { name: 'A task', url: 'https://example.com/hook', method: 'POST', execute_at: '2090-01-01T00:00:00Z' }
const cronJob = { name: 'A job', url: 'https://example.com/hook', method: 'POST', cron: '0 9 1 1 *' }

describe('the API explains', () => {
  it.each<[what: string, method: string, path: string, body: unknown, words: RegExp]>([
    ['a path without a version', 'GET', '/tasks', undefined, /Did you mean \/api\/v1\/scheduler\/tasks\?/],
    [
      'a path in the singular',
      'GET',
      '/api/v1/scheduler/task',
      undefined,
      /Did you mean \/api\/v1\/scheduler\/tasks\?/,
    ],
    ['a path without its area', 'GET', '/api/v1/tasks', undefined, /Did you mean \/api\/v1\/scheduler\/tasks\?/],
    [
      'the deletion of a task',
      'DELETE',
      `${tasks}/task_01kajvz3e9fkwvx3tb1h2c4d5e`,
      undefined,
      /Not found, or you don't have access/,
    ],
    ['a body that is JavaScript', 'POST', tasks, "{name: 'A task'}", /not valid JSON: look at line 1, column 2/],
    ['no body', 'POST', tasks, '', /name is required.*url is required/],
    ['a list as body', 'POST', tasks, [task], /must be an object/],
    [
      'a URL without a scheme',
      'POST',
      tasks,
      { ...task, url: 'example.com/hook' },
      /must be absolute and start with http/,
    ],
    ['a port as URL', 'POST', tasks, { ...task, url: 'localhost:3001' }, /must be absolute and start with http/],
    [
      'a user in a URL',
      'POST',
      tasks,
      { ...task, url: 'https://ada:secret@example.com' },
      /must not contain a user name or password; use a header/,
    ],
    [
      'a time without an offset',
      'POST',
      tasks,
      { ...task, execute_at: '2090-01-01T00:00:00' },
      /with an offset, such as .*, or come with a timezone/,
    ],
    ['seconds as time', 'POST', tasks, { ...task, execute_at: 3786912000 }, /execute_at must be a string/],
    [
      'a word as time',
      'POST',
      tasks,
      { ...task, execute_at: 'tomorrow' },
      /must be a timestamp with an offset, such as 2026-/,
    ],
    [
      'a time in the past',
      'POST',
      tasks,
      { ...task, execute_at: '2020-01-01T00:00:00Z' },
      /later than now. To call a URL at once, use POST \/api\/events/,
    ],
    [
      'no time',
      'POST',
      tasks,
      { ...task, execute_at: undefined },
      /is required. To dispatch at once, use POST \/api\/events/,
    ],
    ['names in camel case', 'POST', tasks, { ...task, executeAt: task.execute_at }, /Did you mean \\"execute_at\\"/],
    ['targetUrl', 'POST', tasks, { ...task, targetUrl: task.url, url: undefined }, /Did you mean \\"url\\"/],
    ['body in place of payload', 'POST', tasks, { ...task, body: { a: 1 } }, /Did you mean \\"payload\\"/],
    ['data in place of payload', 'POST', tasks, { ...task, data: { a: 1 } }, /Did you mean \\"payload\\"/],
    ['a method in small letters', 'POST', tasks, { ...task, method: 'post' }, /must be one of GET, POST/],
    ['the method HEAD', 'POST', tasks, { ...task, method: 'HEAD' }, /must be one of GET, POST/],
    ['a list of headers', 'POST', tasks, { ...task, headers: ['X-A: 1'] }, /must be an object of strings/],
    ['a number as header', 'POST', tasks, { ...task, headers: { 'X-A': 1 } }, /must be a string/],
    [
      'the header Host',
      'POST',
      tasks,
      { ...task, headers: { Host: 'example.org' } },
      /set by Belfry or the connection/,
    ],
    ['retries', 'POST', tasks, { ...task, retries: 3 }, /Did you mean \\"retry\\"/],
    ['a number as retry', 'POST', tasks, { ...task, retry: 3 }, /retry must be an object/],
    [
      'too many retries',
      'POST',
      tasks,
      { ...task, retry: { max_retries: 100 } },
      /retry.max_retries must be at most 20/,
    ],
    ['seconds as timeout', 'POST', tasks, { ...task, timeout_ms: 30 }, /timeout_ms must be at least 1000/],
    ['timeout', 'POST', tasks, { ...task, timeout: 30 }, /Did you mean \\"timeout_ms\\"/],
    ['a label with a space', 'POST', tasks, { ...task, labels: ['customer 42'] }, /label such as customer:42/],
    [
      'a secret in small letters',
      'POST',
      tasks,
      { ...task, headers: { A: '{{ secrets.api_token }}' } },
      /the form \{\{ secrets.NAME \}\}, where NAME has capital letters/,
    ],
    ['six fields', 'POST', cronJobs, { ...cronJob, cron: '0 0 9 * * *' }, /exactly 5 fields .*it has 6/],
    ['a macro', 'POST', cronJobs, { ...cronJob, cron: '@daily' }, /names such as @daily are not supported/],
    ['a question mark', 'POST', cronJobs, { ...cronJob, cron: '0 9 ? * MON' }, /\? is not supported; write \*/],
    ['a step without a range', 'POST', cronJobs, { ...cronJob, cron: '5/15 * * * *' }, /write 5-59\/15/],
    ['a day that never comes', 'POST', cronJobs, { ...cronJob, cron: '0 0 31 2 *' }, /never fires.*no such date/],
    ['a city as time zone', 'POST', cronJobs, { ...cronJob, timezone: 'Berlin' }, /such as UTC or Europe\/Berlin/],
    ['an offset as time zone', 'POST', cronJobs, { ...cronJob, timezone: '+02:00' }, /such as UTC or Europe\/Berlin/],
    [
      'schedule in place of cron',
      'POST',
      cronJobs,
      { ...cronJob, cron: undefined, schedule: '0 9 1 1 *' },
      /Did you mean \\"cron\\"/,
    ],
    [
      'a topic with a space',
      'POST',
      '/api/events',
      { topic: 'order paid', payload: {} },
      /a topic such as orders.paid/,
    ],
    [
      'an event with url',
      'POST',
      '/api/events',
      { topic: 'orders.paid', payload: {}, url: task.url },
      /Did you mean \\"target_url\\"/,
    ],
    ['an id that is none', 'GET', `${tasks}/42`, undefined, /Not found, or you don't have access/],
    [
      'the id of another kind',
      'GET',
      `${tasks}/cron_01kajvz3e9fkwvx3tb1h2c4d5e`,
      undefined,
      /Not found, or you don't have access/,
    ],
    [
      'a task that does not exist',
      'GET',
      `${tasks}/task_01kajvz3e9fkwvx3tb1h2c4d5e`,
      undefined,
      /Not found, or you don't have access/,
    ],
    ['a page that is too long', 'GET', `${tasks}?limit=1000`, undefined, /from 1 to 100/],
    ['a state that is none', 'GET', `${tasks}?state=done`, undefined, /must be one of pending, processing/],
    ['a page by number', 'GET', `${tasks}?page=2`, undefined, /Did you mean \\"cursor\\"/],
    [
      'the name of a secret in small letters',
      'PUT',
      '/api/v1/workspaces/current/secrets/api_token',
      { value: 'abcd' },
      /1 to 64 capital letters/,
    ],
    [
      'a short secret',
      'PUT',
      '/api/v1/workspaces/current/secrets/API_TOKEN',
      { value: 'abc' },
      /at least 4 characters/,
    ],
  ])('%s', async (_what, method, path, body, words) => {
    const { status, text } = await belfry.call(method, path, body)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).toMatch(words)
  })

  it.each([
    ['no key', {}, /X-Api-Key/],
    ['a wrong key', { apiKey: 'bf_wrong' }, /unknown, expired or revoked/],
    ['a key as bearer token', { token: 'bf_wrong' }, /unknown, expired or revoked/],
  ])('%s', async (_what, caller, words) => {
    const { status, text } = await callApi(belfry.url, caller, 'GET', tasks)
    expect(status).toBe(401)
    expect(text).toMatch(words)
  })
})

describe('the client explains', () => {
  const client = () => new Belfry({ apiKey: belfry.caller.apiKey ?? '', baseUrl: belfry.url })
  const signed = {
    'webhook-id': 'task_1',
    'webhook-timestamp': `${Math.floor(Date.now() / 1000)}`,
    'webhook-signature': 'v1,eA==',
  }
  const create = (fields: object) => client().tasks.create({ targetUrl: 'https://example.com', delay: '1h', ...fields })

  it.each<[what: string, mistake: () => unknown, words: RegExp]>([
    [
      'no key',
      () => new Belfry({ baseUrl: belfry.url, apiKey: '' }).tasks.list(),
      /There is no API key. Set BELFRY_API_KEY/,
    ],
    [
      'another port',
      () => new Belfry({ apiKey: 'bf_a', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).tasks.list(),
      /got no response/,
    ],
    [
      'the URL of another program',
      () => new Belfry({ apiKey: 'bf_a', baseUrl: target.url('') }).tasks.list(),
      /Is baseUrl the URL of Belfry\?/,
    ],
    ['a delay in words', () => create({ delay: '10 minutes' }), /not a duration such as 90s, 10m/],
    ['a delay and a time', () => create({ executeAt: new Date() }), /either executeAt or delay/],
    ['an invalid date', () => create({ delay: undefined, executeAt: new Date('soon') }), /invalid Date/],
    ['text as payload', () => create({ payload: 'hello' }), /not JSON. Pass a value, or JSON.stringify/],
    ['a name in snake case', () => create({ timeout_ms: 30 }), /timeoutMs must be at least 1000/],
    ['a wrong field', () => create({ timeoutMs: 30 }), /timeoutMs must be at least 1000/],
    ['a parsed body', () => webhooks.verify({ a: 1 } as never, {}, 'whsec_dGVzdHRlc3R0ZXN0'), /requires the raw body/],
    [
      'a request without a signature',
      () => webhooks.verify('{}', {}, 'whsec_dGVzdHRlc3R0ZXN0'),
      /no webhook-id header/,
    ],
    ['an API key as secret', () => webhooks.verify('{}', signed, 'bf_abc'), /whsec_/],
  ])('%s', async (_what, mistake, words) => {
    await expect((async () => mistake())()).rejects.toThrow(words)
  })
})
