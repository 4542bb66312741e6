import { randomBytes } from 'node:crypto'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const secret = `hidden ${randomBytes(18).toString('hex')}`

type Attribute = { key: string; value: { stringValue?: string; intValue?: number } }
type ExportedSpan = {
  service: string | undefined
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: Attribute[]
}

let target: Receiver
beforeAll(async () => {
  target = await startReceiver({ otherwise: { status: 204 } })
  target.answer('/fails', { status: 500 })
})
afterAll(async () => {
  await target?.close()
})

/** Creates a task with `fetch` and additional headers. */
async function create(belfry: Belfry, path: string, headers: Record<string, string>, more: object = {}) {
  const task = { name: 'traced', url: target.url(path), method: 'POST', execute_at: inMs(1500), ...more }
  const response = await fetch(belfry.url + tasks, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Api-Key': belfry.caller.apiKey ?? '', ...headers },
    body: JSON.stringify(task),
  })
  expect(response.status).toBe(201)
}

async function receivedAt(path: string) {
  const [received] = await waitFor(
    async () => target.requestsTo(path),
    all => all.length > 0,
  )
  return headersOf(received)
}

function headersOf(received: { rawHeaders: readonly string[] } | undefined): Record<string, string | undefined> {
  const { rawHeaders = [] } = received ?? {}
  return Object.fromEntries(
    rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1]]] : [])),
  )
}

const traceId = () => randomBytes(16).toString('hex')
const spanId = () => randomBytes(8).toString('hex')

describe('with a collector of traces', () => {
  let belfry: Belfry
  let collector: Receiver
  beforeAll(async () => {
    collector = await startReceiver({
      otherwise: { status: 200, body: '{}', headers: { 'content-type': 'application/json' } },
    })
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: new URL(collector.url('/')).origin, OTEL_BSP_SCHEDULE_DELAY: '100' }
    belfry = await startBelfry('postgres', { env })
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/HIDDEN`
    expect((await belfry.call('PUT', path, { value: secret })).status).toBe(201)
  })
  afterAll(async () => {
    await belfry?.close()
    await collector?.close()
  })

  function exported(): ExportedSpan[] {
    return collector.requestsTo('/v1/traces').flatMap(({ body }) =>
      JSON.parse(body.toString()).resourceSpans.flatMap(
        (one: { resource: { attributes: Attribute[] }; scopeSpans: Array<{ spans: ExportedSpan[] }> }) => {
          const service = one.resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue
          return one.scopeSpans.flatMap(({ spans }) => spans.map(span => ({ ...span, service })))
        },
      ),
    )
  }
  const spansOf = (trace: string, count: number) =>
    waitFor(
      async () => exported().filter(span => span.traceId === trace),
      spans => spans.length >= count,
    )
  const attributeOf = (span: ExportedSpan | undefined, name: string) =>
    Object.values(span?.attributes.find(({ key }) => key === name)?.value ?? {})[0]

  it("continues the caller's trace through the API and the dispatcher to the target", async () => {
    const [trace, caller] = [traceId(), spanId()]
    const headers = { 'X-Secret': '{{ secrets.HIDDEN }}' }
    await create(belfry, '/traced', { traceparent: `00-${trace}-${caller}-01` }, { headers })
    const received = await receivedAt('/traced')
    expect(received['x-secret']).toBe(secret)
    const spans = await spansOf(trace, 2)
    const api = spans.find(({ service }) => service === 'belfry-api')
    const dispatcher = spans.find(({ service }) => service === 'belfry-dispatcher')
    expect(api).toMatchObject({ name: `POST ${tasks}`, parentSpanId: caller })
    expect(dispatcher).toMatchObject({ name: 'dispatch POST', parentSpanId: api?.spanId })
    expect(received.traceparent).toBe(`00-${trace}-${dispatcher?.spanId}-01`)
    expect(attributeOf(dispatcher, 'belfry.task_id')).toBe(received['x-belfry-task-id'])
    expect(Number(attributeOf(dispatcher, 'http.response.status_code'))).toBe(204)
    expect(collector.requests.some(({ body }) => body.includes(secret))).toBe(false)
    for (const [service, message] of [
      ['api', 'request.served'],
      ['dispatcher', 'attempt.finished'],
    ]) {
      const lines = () => belfry.services.find(({ name }) => name === service)?.output.split('\n') ?? []
      await waitFor(
        async () => lines().filter(line => line.includes(message ?? '') && line.includes(`"trace":"${trace}"`)),
        found => found.length === 1,
      )
    }
  })

  it('starts a trace without one from the caller, and makes a span of each attempt', async () => {
    await create(belfry, '/fails', {}, { retry: { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000 } })
    const trace = (await receivedAt('/fails')).traceparent?.slice(3, 35) ?? ''
    const spans = await spansOf(trace, 3)
    const attempts = spans.filter(({ service }) => service === 'belfry-dispatcher')
    const api = spans.find(({ service }) => service === 'belfry-api')
    expect(api?.parentSpanId ?? '').toBe('')
    expect(attempts.map(span => Number(attributeOf(span, 'belfry.attempt'))).sort()).toEqual([1, 2])
    for (const attempt of attempts) {
      expect(attempt.parentSpanId).toBe(api?.spanId)
      expect(attributeOf(attempt, 'error.type')).toBe('500')
    }
    expect(target.requestsTo('/fails').map(request => headersOf(request).traceparent)).toEqual(
      expect.arrayContaining(attempts.map(span => `00-${trace}-${span.spanId}-01`)),
    )
  })
})

describe('without one', () => {
  let belfry: Belfry
  beforeAll(async () => {
    belfry = await startBelfry('postgres')
  })
  afterAll(() => belfry?.close())

  it('passes on the trace of the caller, prefers the one of the task, and sends none otherwise', async () => {
    const [sent, own] = [`00-${traceId()}-${spanId()}-01`, `00-${traceId()}-${spanId()}-00`]
    await create(belfry, '/sent', { traceparent: sent })
    await create(belfry, '/own', { traceparent: sent }, { headers: { TraceParent: own } })
    await create(belfry, '/malformed', { traceparent: '00-nonsense' })
    await create(belfry, '/none', {})
    expect((await receivedAt('/sent')).traceparent).toBe(sent)
    expect((await receivedAt('/own')).traceparent).toBe(own)
    expect((await receivedAt('/malformed')).traceparent).toBeUndefined()
    expect((await receivedAt('/none')).traceparent).toBeUndefined()
  })
})
