import { expect, it } from 'vitest'
import { readOptions } from './message-options.ts'

const read = (headers: Record<string, string>) =>
  readOptions(Object.fromEntries(Object.entries(headers).map(([name, value]) => [`upstash-${name}`, value])))

it('has defaults for everything', () => {
  expect(readOptions({})).toEqual({
    method: 'POST',
    delayMs: 0,
    retries: 3,
    delaysMs: [12_000, 148_000, 1_808_000],
    retryDelay: undefined,
    timeoutMs: 300_000,
    headers: {},
    contentType: null,
    notBefore: null,
    callback: null,
    failureCallback: null,
    deduplicationId: null,
    deduplicatesByContent: false,
    queue: null,
    flowControl: null,
    labels: null,
    redact: null,
    cron: null,
    scheduleId: null,
  })
})

it.each([
  ['delay', '10s', { delayMs: 10_000 }],
  ['delay', '1m', { delayMs: 60_000 }],
  ['delay', '2h', { delayMs: 7_200_000 }],
  ['delay', '7d', { delayMs: 604_800_000 }],
  ['delay', '1h30m', { delayMs: 5_400_000 }],
  ['delay', '5', { delayMs: 5_000 }],
  ['delay', '1.5s', { delayMs: 1_500 }],
  ['delay', '0s', { delayMs: 0 }],
  ['not-before', '1800000000', { notBefore: 1_800_000_000_000 }],
  ['method', 'get', { method: 'GET' }],
  ['retries', '0', { retries: 0, delaysMs: [] }],
  ['retries', '20', { retries: 20 }],
  ['timeout', '5s', { timeoutMs: 5_000 }],
  ['timeout', '900', { timeoutMs: 900_000 }],
  ['timeout', '15m', { timeoutMs: 900_000 }],
  ['deduplication-id', 'a b', { deduplicationId: 'a b' }],
  ['content-based-deduplication', 'true', { deduplicatesByContent: true }],
  ['content-based-deduplication', 'false', { deduplicatesByContent: false }],
  ['queue-name', 'q', { queue: 'q' }],
  ['label', 'a, b,a', { labels: ['a', 'b'] }],
  ['redact-fields', 'body,header[Authorization]', { redact: ['body', 'header[Authorization]'] }],
  ['cron', '* * * * *', { cron: '* * * * *' }],
  ['schedule-id', 'mine', { scheduleId: 'mine' }],
  ['telemetry-sdk', 'anything', {}],
])('reads %s: %s', (name, value, expected) => {
  expect(read({ [name]: value })).toMatchObject(expected)
})

it('evaluates the delays of retries', () => {
  expect(read({ retries: '2', 'retry-delay': '1000 * (1 + retried)' })).toMatchObject({
    delaysMs: [1000, 2000],
    retryDelay: '1000 * (1 + retried)',
  })
})

it('passes on headers without the prefix, except those of a connection', () => {
  const headers = {
    'forward-authorization': 'Bearer x',
    'forward-x-a': '1',
    'forward-host': 'h',
    'forward-connection': 'c',
  }
  const own = { 'forward-content-length': '3', 'forward-webhook-id': 'x', 'forward-upstash-signature': 's' }
  expect(read({ ...headers, ...own }).headers).toEqual({ authorization: 'Bearer x', 'x-a': '1' })
})

it('reads both callbacks with their own options', () => {
  const options = read({
    callback: 'https://example.com/a',
    'callback-method': 'PUT',
    'callback-retries': '1',
    'callback-retry-delay': '500',
    'callback-delay': '3s',
    'callback-timeout': '9s',
    'callback-forward-x-a': '1',
    'failure-callback': 'https://example.com/b',
    'failure-callback-forward-x-b': '2',
    'forward-x-c': '3',
  })
  expect(options.callback).toEqual({
    url: 'https://example.com/a',
    method: 'PUT',
    retries: 1,
    retryDelay: '500',
    delaysMs: [500],
    delayMs: 3_000,
    timeoutMs: 9_000,
    headers: { 'x-a': '1' },
  })
  expect(options.failureCallback).toMatchObject({
    url: 'https://example.com/b',
    method: 'POST',
    headers: { 'x-b': '2' },
  })
  expect(options.headers).toEqual({ 'x-c': '3' })
})

it.each([
  ['parallelism=5, rate=10, period=1m', { parallelism: 5, rate: 10, period: 60 }],
  ['parallelism=5', { parallelism: 5 }],
  ['rate=10,period=7s', { rate: 10, period: 7 }],
])('reads the limits of a flow-control key: %s', (value, limits) => {
  expect(read({ 'flow-control-key': 'k', 'flow-control-value': value }).flowControl).toEqual({ key: 'k', ...limits })
})

it.each([
  [{ delay: '1x' }, /Upstash-Delay/],
  [{ delay: '-1s' }, /Upstash-Delay/],
  [{ delay: '99999999d' }, /too long/],
  [{ 'not-before': 'tomorrow' }, /Upstash-Not-Before/],
  [{ 'not-before': '99999999999' }, /2100/],
  [{ method: 'TRACE' }, /Upstash-Method/],
  [{ retries: '21' }, /Upstash-Retries/],
  [{ retries: '-1' }, /Upstash-Retries/],
  [{ retries: '1.5' }, /Upstash-Retries/],
  [{ 'retry-delay': 'x' }, /Upstash-Retry-Delay/],
  [{ timeout: '901s' }, /Upstash-Timeout/],
  [{ timeout: '0s' }, /Upstash-Timeout/],
  [{ callback: 'https://example.com', 'callback-retries': 'x' }, /Upstash-Callback-Retries/],
  [{ 'flow-control-key': 'k' }, /parallelism or rate/],
  [{ 'flow-control-value': 'rate=1' }, /needs Upstash-Flow-Control-Key/],
  [{ 'flow-control-key': 'k', 'flow-control-value': 'rate=0' }, /rate/],
  [{ 'flow-control-key': 'k', 'flow-control-value': 'speed=1' }, /"speed"/],
  [{ 'flow-control-key': 'k', 'flow-control-value': 'rate=1,period=2d' }, /period/],
  [{ 'flow-control-key': 'a key', 'flow-control-value': 'rate=1' }, /Flow-Control-Key/],
  [{ label: 'a b' }, /Upstash-Label/],
  [{ label: Array.from({ length: 11 }, (_, i) => `l${i}`).join() }, /at most 10/],
  [{ 'redact-fields': 'everything' }, /Upstash-Redact-Fields/],
  [{ 'schedule-id': 'an id' }, /Upstash-Schedule-Id/],
  [{ 'forward-x-a': 'a\u0001b' }, /x-a/],
  [{ 'workflow-init': 'true' }, /Workflow/],
])('refuses %j', (headers, reason) => {
  expect(() => read(headers as Record<string, string>)).toThrow(reason)
})

it('refuses long schedule ids and redacted fields', () => {
  expect(() => read({ 'schedule-id': 'x'.repeat(256) })).toThrow(/Upstash-Schedule-Id/)
  expect(() => read({ 'redact-fields': `header[${'x'.repeat(8_192)}]` })).toThrow(/Upstash-Redact-Fields/)
})
