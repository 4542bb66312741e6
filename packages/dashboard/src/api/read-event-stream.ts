export type StreamedEvent = { id: string | undefined; name: string | undefined; data: string }

/** Cuts the text of a stream of server-sent events into events; what has no data, such as a comment, is left out. */
export async function* readEventStream(pieces: AsyncIterable<string>): AsyncGenerator<StreamedEvent> {
  let rest = ''
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n').map(line => /^(\w+): ?(.*)$/.exec(line))
      const valuesOf = (field: string) => lines.flatMap(line => (line?.[1] === field ? [line[2] ?? ''] : []))
      const data = valuesOf('data')
      if (data.length > 0) yield { id: valuesOf('id').at(-1), name: valuesOf('event').at(-1), data: data.join('\n') }
    }
  }
}
