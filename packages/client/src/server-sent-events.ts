/**
 * Reads server-sent events until the connection ends, breaks, or is silent for too long. The caller reconnects in each of
 * these cases.
 */
export function readEvents(body: ReadableStream<Uint8Array>, silenceMs: number) {
  let retryMs: number | undefined
  let lastId = ''
  let [id, event, data] = ['', '', [] as string[]]

  // An empty line ends an event, whose name may be empty; a line that starts with a colon is a comment.
  function take(line: string): { name: string; data: string } | undefined {
    if (line === '') {
      const whole = data.length > 0 ? { name: event, data: data.join('\n') } : undefined
      lastId = id
      event = ''
      data = []
      return whole
    }
    const [, name, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    if (name === 'id') id = value
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
    if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value)
    return undefined
  }

  async function* events() {
    const reader = body.getReader()
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for (;;) {
        const piece = await readWithin(reader, silenceMs)
        if (piece === undefined) return
        // A carriage return at the end may belong to a line feed in the next piece.
        const lines = (rest + decoder.decode(piece, { stream: true })).split(/\r\n|\n|\r(?!$)/)
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const event = take(line)
          if (event) yield event
        }
      }
    } finally {
      await reader.cancel().catch(() => {}) // the connection may be broken
    }
  }

  return {
    events: events(),
    /** Returns the id of the last event that had one, with or without data. */
    lastId: () => lastId,
    /** Returns the delay before a reconnection that the server asks for, in milliseconds. */
    retryMs: () => retryMs,
  }
}

// Returns undefined when the stream was silent for too long, has ended, or is broken.
async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, ms: number) {
  // It ends the pending read.
  const timer = setTimeout(() => reader.cancel().catch(() => {}), ms)
  try {
    return (await reader.read()).value
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
