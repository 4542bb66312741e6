import { describe, expect, it } from 'vitest'
import { readEventStream } from './runs.ts'

async function read(chunks: string[]) {
  const events = []
  for await (const event of readEventStream(
    (async function* () {
      yield* chunks
    })(),
  )) {
    events.push(event)
  }
  return events
}

describe('a stream of server-sent events', () => {
  it('is parsed into events, however it is split into chunks', async () => {
    const text =
      'retry: 2000\n\nid: run_0\n\nid: run_1\nevent: run\ndata: {"a":1}\n\n: still here\n\nid: run_2\ndata: b\ndata: c\n\n'
    const events = [
      { id: 'run_0', name: undefined, data: '' },
      { id: 'run_1', name: 'run', data: '{"a":1}' },
      { id: 'run_2', name: undefined, data: 'b\nc' },
    ]
    expect(await read([text])).toEqual(events)
    expect(await read([...text])).toEqual(events)
  })

  it('does not yield an incomplete event', async () => {
    expect(await read(['data: half'])).toEqual([])
  })
})
