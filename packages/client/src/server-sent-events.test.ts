import { describe, expect, it } from 'vitest'
import { readEvents } from './server-sent-events.ts'

async function read(chunks: string[]) {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
      controller.close()
    },
  })
  const stream = readEvents(body, 1000)
  const events = []
  for await (const event of stream.events) events.push(event)
  return { events, lastId: stream.lastId(), retryMs: stream.retryMs() }
}

describe('a stream of server-sent events', () => {
  it('is parsed into events, however it is split into chunks', async () => {
    const text =
      'retry: 2000\n\nid: run_0\n\nid: run_1\nevent: run\ndata: {"a":1}\n\n: still here\n\nid: run_2\ndata: b\ndata: c\n\n'
    const events = [
      { name: 'run', data: '{"a":1}' },
      { name: '', data: 'b\nc' },
    ]
    expect(await read([text])).toEqual({ events, lastId: 'run_2', retryMs: 2000 })
    expect(await read([...text])).toEqual({ events, lastId: 'run_2', retryMs: 2000 })
    expect(await read(['id: run_0\n\n'])).toEqual({ events: [], lastId: 'run_0', retryMs: undefined })
  })

  it('does not yield an incomplete event', async () => {
    expect(await read(['data: half'])).toEqual({ events: [], lastId: '', retryMs: undefined })
  })
})
