import { expect, it } from 'vitest'
import { AuthenticationError, Belfry, type BelfryOptions, ConnectionError, type Run } from '../src/index.ts'
import { problem, type Scripted, useServer } from './scripted-server.ts'

const server = useServer()
const client = (more: Partial<BelfryOptions> = {}) => new Belfry({ apiKey: 'bf_key', baseUrl: server.url, ...more })
const event = (place: string, id: string) => `id: ${place}\nevent: run\ndata: {"id":"${id}","task_name":"${id}"}\n\n`
const stream = (body: string, instead?: Scripted['instead']): Scripted => ({
  headers: { 'content-type': 'text/event-stream' },
  body: `retry: 1\n\n${body}`,
  ...(instead ? { instead } : {}),
})

async function take(runs: AsyncIterable<Run>, count: number): Promise<string[]> {
  const seen: string[] = []
  for await (const { taskName } of runs) if (seen.push(taskName) === count) break
  return seen
}

it('yields runs as they arrive, and sends no request after the reader stops', async () => {
  server.answers(stream(`: still here\n\n${event('run_a', 'run_1')}${event('run_b', 'run_2')}`, 'stay open'))
  expect(await take(client().runs.tail(), 2)).toEqual(['run_1', 'run_2'])
  expect(server.received).toHaveLength(1)
  expect(server.received[0]).toMatchObject({ path: '/api/v1/scheduler/runs/stream' })
  expect(server.received[0]?.headers).toMatchObject({ accept: 'text/event-stream', 'x-api-key': 'bf_key' })
})

it('resumes after the stream ends, breaks or is refused temporarily, without duplicates', async () => {
  server.answers(
    stream(event('run_a', 'run_1')),
    stream(event('run_a', 'run_1') + event('run_b', 'run_2'), 'break off'),
    { instead: 'hang up' },
    problem(503, 'unavailable'),
    stream(event('run_c', 'run_2') + event('run_c', 'run_3'), 'stay open'),
  )
  expect(await take(client({ maxRetries: 0 }).runs.tail({ after: 'run_0' }), 3)).toEqual(['run_1', 'run_2', 'run_3'])
  const places = server.received.map(call => call.headers['last-event-id'])
  expect(places).toEqual(['run_0', 'run_a', 'run_b', 'run_b', 'run_b'])
})

it('resumes where a stream was that has sent no run', async () => {
  server.answers(
    stream('id: run_a\n\nid: run_b\nevent: run\n', 'break off'),
    stream(event('run_c', 'run_1'), 'stay open'),
  )
  expect(await take(client().runs.tail(), 1)).toEqual(['run_1'])
  expect(server.received.map(call => call.headers['last-event-id'])).toEqual([undefined, 'run_a'])
})

it('reads events in pieces of any size', async () => {
  const text = `retry: 1\r\n\r\nid: run_a\r\ndata: {"id":"run_1",\r\ndata: "task_name":"größe \u2028 😀"}\r\n\r\n`
  const bytes = new TextEncoder().encode(text)
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const fetch: typeof globalThis.fetch = async () => {
      const pieces = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
        },
      })
      return new Response(pieces)
    }
    expect(await take(client({ fetch }).runs.tail(), 1)).toEqual(['größe \u2028 😀'])
  }
})

it('reports the number of omitted runs, and ignores unknown events', async () => {
  const others = 'id: run_b\nevent: omitted\ndata: {"count":50}\n\nevent: later\ndata: {"id":"no run"}\n\n'
  server.answers(stream(event('run_a', 'run_1') + others + event('run_c', 'run_2'), 'stay open'))
  const omitted: number[] = []
  const runs = client().runs.tail({ onOmitted: count => omitted.push(count) })
  expect(await take(runs, 2)).toEqual(['run_1', 'run_2'])
  expect(omitted).toEqual([50])
})

it('throws when it is not allowed, even later', async () => {
  server.answers(stream(event('run_a', 'run_1')), problem(401, 'unauthenticated'))
  await expect(take(client().runs.tail(), 2)).rejects.toThrow(AuthenticationError)
})

it('throws when the first connection fails', async () => {
  const unreachable = new Belfry({ apiKey: 'k', baseUrl: 'http://127.0.0.1:1', maxRetries: 0 })
  await expect(take(unreachable.runs.tail(), 1)).rejects.toThrow(ConnectionError)
})

it('ends with the reason of its signal, while it reads and while it waits', async () => {
  for (const script of [stream(': still here\n\n', 'stay open'), stream('')]) {
    server.answers(script, ...Array(50).fill(stream('')))
    const enough = new AbortController()
    setTimeout(() => enough.abort(new Error('enough')), 100)
    await expect(take(client().runs.tail({ signal: enough.signal }), 1)).rejects.toThrow('enough')
  }
})
