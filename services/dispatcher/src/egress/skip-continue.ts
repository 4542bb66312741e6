import type { Socket } from 'node:net'

/** Lets answers of "100 Continue" that nobody has asked for pass a parser that refuses them. */
export type ContinueSkipper = {
  /** The next bytes begin a response. */
  expectResponse(): void
  /** No byte has come since `expectResponse`. */
  readonly isSilent: boolean
  watch(socket: Socket): Socket
}

const statusLine = 'HTTP/1.1 1' // what an informational answer begins with
const endOfHeaders = '\r\n\r\n'
const two = 0x32

/**
 * The HTTP parser of undici breaks off at a 100, though RFC 9110 (15.2) wants unexpected ones to be skipped like all
 * others. Shown as a 102 they are: the number stands at a fixed place, before the headers, and no byte is moved.
 */
export function createContinueSkipper(): ContinueSkipper {
  let part: 'status' | 'headers' | 'other' = 'status'
  let matched = 0
  let isSilent = true

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
    isSilent = false
    for (let index = 0; index < bytes.length && part !== 'other'; index++) {
      if (part === 'status') inStatusLine(bytes, index)
      else inHeaders(bytes, index)
    }
  }

  return {
    expectResponse() {
      expectStatus()
      isSilent = true
    },
    get isSilent() {
      return isSilent
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
