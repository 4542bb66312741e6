import type { EventEmitter } from 'node:events'

/**
 * Splits the bytes of a keep-alive connection into HTTP messages, as cheaply as possible, and reports each that is complete.
 * Its head has no empty line at the end.
 */
export function readMessages(socket: EventEmitter, onMessage: (head: string, body: Buffer) => void): void {
  let rest: Buffer | null = null
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest === null ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (;;) {
      const headEnd = bytes.indexOf('\r\n\r\n', start, 'latin1')
      if (headEnd === -1) break
      const head = bytes.toString('latin1', start, headEnd)
      const end = headEnd + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (end > bytes.length) break
      start = end
      onMessage(head, bytes.subarray(headEnd + 4, end))
    }
    rest = start === bytes.length ? null : bytes.subarray(start)
  })
}
