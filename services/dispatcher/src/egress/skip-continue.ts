import type { Socket } from 'node:net'

/** Makes undici skip unexpected "100 Continue" responses. */
export type ContinueSkipper = {
  /** Must be called before each request: the next bytes begin a response. */
  expectResponse(): void
  /** When the first byte since `expectResponse` arrived, by `performance.now()`; null before. */
  readonly firstByteAt: number | null
  watch(socket: Socket): Socket
}

const statusLine = 'HTTP/1.1 1' // the start of an informational response
const endOfHeaders = '\r\n\r\n'
const two = 0x32

/**
 * The HTTP parser of undici fails at a 100, although RFC 9110 (15.2) requires clients to skip unexpected ones. It skips a
 * 102, so this changes the last digit of the status, in place.
 */
export function createContinueSkipper(): ContinueSkipper {
  let part: 'status' | 'headers' | 'other' = 'status'
  let matched = 0
  let firstByteAt: number | null = null

  function expectStatus(): void {
    part = 'status'
    matched = 0
  }

  function inStatusLine(bytes: Buffer, index: number): void {
    const character = String.fromCharCode(bytes[index] ?? 0)
    if (matched < statusLine.length) {
      if (character !== statusLine[matched]) part = 'other'
    } else if (matched === statusLine.length && character !== '0') {
      part = 'headers'
    } else if (matched === statusLine.length + 1) {
      if (character === '0') bytes[index] = two
      part = 'headers'
    }
    matched = part === 'headers' ? 0 : matched + 1
  }

  function inHeaders(bytes: Buffer, index: number): void {
    const character = String.fromCharCode(bytes[index] ?? 0)
    matched = character === endOfHeaders[matched] ? matched + 1 : Number(character === endOfHeaders[0])
    if (matched === endOfHeaders.length) expectStatus()
  }

  function show(bytes: Buffer): void {
    firstByteAt ??= performance.now()
    for (let index = 0; index < bytes.length && part !== 'other'; index++) {
      if (part === 'status') inStatusLine(bytes, index)
      else inHeaders(bytes, index)
    }
  }

  return {
    expectResponse() {
      expectStatus()
      firstByteAt = null
    },
    get firstByteAt() {
      return firstByteAt
    },
    watch(socket) {
      const read = socket.read.bind(socket)
      socket.read = size => {
        const bytes: unknown = read(size)
        if (Buffer.isBuffer(bytes)) show(bytes)
        return bytes
      }
      return socket
    },
  }
}
