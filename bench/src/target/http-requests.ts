/** Splits what comes in on a keep-alive connection into requests, as fast as may be: it stands for the whole outside. */
export type RequestReader = {
  /** Takes a piece of the stream and tells the path of every request that is complete with it. */
  read(chunk: Buffer, onRequest: (path: string) => void): void
}

export function createRequestReader(): RequestReader {
  let rest: Buffer | null = null
  return {
    read(chunk, onRequest) {
      const bytes = rest === null ? chunk : Buffer.concat([rest, chunk])
      let start = 0
      for (;;) {
        const headEnd = bytes.indexOf('\r\n\r\n', start, 'latin1')
        if (headEnd === -1) break
        const head = bytes.toString('latin1', start, headEnd)
        const end = headEnd + 4 + contentLength(head)
        if (end > bytes.length) break
        start = end
        onRequest(pathOf(head))
      }
      rest = start === bytes.length ? null : bytes.subarray(start)
    },
  }
}

function contentLength(head: string): number {
  return Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
}

function pathOf(head: string): string {
  const from = head.indexOf(' ') + 1
  return head.slice(from, head.indexOf(' ', from))
}
