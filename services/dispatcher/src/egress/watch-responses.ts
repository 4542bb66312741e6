import type { Socket } from 'node:net'

const version = Buffer.from('HTTP/1.')
const endOfHeaders = Buffer.from('\r\n\r\n')
const firstDigit = version.length + 2
const afterStatus = firstDigit + 3
const [space, cr, lf, zero, one, two, nine] = [0x20, 0x0d, 0x0a, 0x30, 0x31, 0x32, 0x39]

/**
 * The HTTP parser of undici fails at a 100, although RFC 9110 (15.2) requires clients to skip unexpected ones. It skips a
 * 102, so this changes the last digit of the status, in place. The parser also fails at headers that are not valid, without
 * the status that came before them.
 */
export function watchResponses() {
  let part: 'status' | 'headers' | 'other' = 'status'
  let matched = 0
  let digits = 0
  let status: number | null = null
  let firstByteAt: number | null = null

  function expectStatus(): void {
    part = 'status'
    matched = 0
    digits = 0
  }

  function inStatusLine(bytes: Buffer, index: number): void {
    const code = bytes[index] ?? 0
    const at = matched++
    if (at === afterStatus) {
      // An invalid fourth digit is left to the parser.
      if ((code === space || code === cr || code === lf) && digits >= 200) status = digits
      part = 'other'
    } else if (at >= firstDigit) {
      digits = digits * 10 + code - zero
      if (code < zero || code > nine) part = 'other'
      else if (at === afterStatus - 1 && digits < 200) {
        if (digits === 100) bytes[index] = two
        part = 'headers'
        matched = 0
      }
    } else if (
      at < version.length
        ? code !== version[at]
        : at === version.length
          ? code !== zero && code !== one
          : code !== space
    ) {
      part = 'other'
    }
  }

  function inHeaders(bytes: Buffer, index: number): void {
    matched = bytes[index] === endOfHeaders[matched] ? matched + 1 : Number(bytes[index] === endOfHeaders[0])
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
    /** Must be called before each request: the next bytes begin a response. */
    expectResponse(): void {
      expectStatus()
      status = null
      firstByteAt = null
    },
    /** When the first byte since `expectResponse` arrived, by `performance.now()`; null before. */
    get firstByteAt(): number | null {
      return firstByteAt
    },
    /** The final status since `expectResponse`; null before, and when the status line is not valid. */
    get status(): number | null {
      return status
    },
    watch(socket: Socket): Socket {
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
