import type { Action } from '@belfry/domain/permissions'

const url = 'https://example.com/'

/** The rest of the path of each route of the QStash interface, and its body. Default: an object that does not exist. */
export const qstashRequests: Readonly<Record<string, { path?: string; body?: unknown }>> = {
  'POST /^\\/publish\\/./': { path: `/publish/${url}`, body: 'x' },
  'POST /^\\/enqueue\\/([^/]+)\\/./': { path: `/enqueue/a-queue/${url}`, body: 'x' },
  'POST /batch': { body: [{ destination: url, body: 'x' }] },
  'DELETE /messages': { path: '/messages?label=nothing' },
  'GET /messages/:id': {},
  'DELETE /messages/:id': {},
  'GET /schedules': {},
  'GET /schedules/:id': {},
  'DELETE /schedules/:id': {},
  // No destination: refused after the check of the right.
  'POST /schedules/:id': {},
  'PATCH /schedules/:id/pause': {},
  'POST /schedules/:id/pause': {},
  'PATCH /schedules/:id/resume': {},
  'POST /schedules/:id/resume': {},
  'POST /^\\/schedules\\/./': { path: `/schedules/${url}`, body: 'x' },
  'GET /queues': {},
  'POST /queues': { body: { queueName: 'a-queue', parallelism: 2 } },
  'GET /queues/:name': {},
  'DELETE /queues/:name': {},
  'POST /queues/:name/pause': {},
  'POST /queues/:name/resume': {},
  'GET /topics': {},
  'GET /topics/:name': {},
  'DELETE /topics/:name': {},
  'POST /topics/:name/endpoints': { body: { endpoints: [{ url }] } },
  'DELETE /topics/:name/endpoints': { body: { endpoints: [{ url }] } },
  'GET /dlq': {},
  'DELETE /dlq': {},
  'POST /dlq/retry': {},
  'POST /dlq/retry/:id': {},
  'GET /dlq/:id': {},
  'DELETE /dlq/:id': {},
  'GET /events': {},
  'GET /logs': {},
  'GET /flowControl': {},
  'GET /flowControl/:key': {},
  'POST /flowControl/:key/pause': {},
  'POST /flowControl/:key/resume': {},
  'POST /flowControl/:key/pin': { path: '/flowControl/a-key/pin?rate=1' },
  'POST /flowControl/:key/unpin': {},
  'POST /flowControl/:key/resetRate': {},
  'GET /globalParallelism': {},
  'GET /keys': {},
  'POST /keys/rotate': {},
}

/** A header of a message: a value, the right that it needs in addition, and the headers that it needs beside it. */
type MessageHeader = { value: string; needs?: Action; beside?: Record<string, string> }

const delivery: Record<string, MessageHeader> = {
  method: { value: 'PUT' },
  delay: { value: '10s' },
  retries: { value: '2' },
  'retry-delay': { value: '1000' },
  timeout: { value: '10s' },
  'forward-': { value: 'x' },
}

/** Returns the headers of a callback: each with the URL of the callback beside it. */
function callback(name: string): Record<string, MessageHeader> {
  const target = { [`upstash-${name}`]: url }
  const headers = Object.entries(delivery).map(([key, header]) => [
    `upstash-${name}-${key}`,
    { ...header, beside: target },
  ])
  return { [`upstash-${name}`]: { value: url }, ...Object.fromEntries(headers) }
}

const limit = { 'upstash-flow-control-value': 'rate=1' }

/** Every header of a message that the QStash interface reads. A name that ends with `-` is the beginning of many. */
export const messageHeaders: Readonly<Record<string, MessageHeader>> = {
  ...Object.fromEntries(Object.entries(delivery).map(([key, header]) => [`upstash-${key}`, header])),
  ...callback('callback'),
  ...callback('failure-callback'),
  'content-type': { value: 'text/plain' },
  'upstash-not-before': { value: String(Math.floor(Date.now() / 1000) + 3_600) },
  'upstash-deduplication-id': { value: 'a' },
  'upstash-content-based-deduplication': { value: 'true' },
  'upstash-queue-name': { value: 'a-queue' },
  'upstash-flow-control-key': { value: 'a-key', needs: 'queue.write', beside: limit },
  'upstash-flow-control-value': {
    value: 'parallelism=2',
    needs: 'queue.write',
    beside: { 'upstash-flow-control-key': 'another-key' },
  },
  'upstash-label': { value: 'a' },
  'upstash-redact-fields': { value: 'body' },
  'upstash-cron': { value: '0 0 1 1 *', needs: 'cron_job.write' },
  'upstash-schedule-id': { value: 'a-schedule' },
  // Refused for every caller.
  'upstash-workflow-': { value: 'x' },
}

/** Headers in which a reference to a secret is never filled in. The path has the other queue. */
export const inertHeaders: readonly string[] = [
  'content-type',
  'upstash-content-based-deduplication',
  'upstash-deduplication-id',
  'upstash-schedule-id',
  'enqueue: upstash-queue-name',
]
