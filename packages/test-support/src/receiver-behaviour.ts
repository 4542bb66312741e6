import type { ServerResponse } from 'node:http'
import { pipeline, Readable, type Writable } from 'node:stream'

/** A valid response. */
export type Reply = {
  status?: number
  headers?: Record<string, string | string[]>
  body?: string | Buffer
  delayMs?: number
  /** Delays the response until this has settled. */
  after?: Promise<unknown>
}

/** An invalid or incomplete response. */
export type Misbehaviour =
  /** Sends nothing. */
  | { does: 'hang' }
  /** Sends headers and a part of the body, then nothing. */
  | { does: 'hang_in_body' }
  /** Sends a valid response one byte at a time, or only its body. */
  | { does: 'drip'; everyMs: number; part?: 'all' | 'body' }
  /** Resets the connection. */
  | { does: 'reset' }
  /** Closes the connection before the announced length. */
  | { does: 'close_in_body' }
  /** Sends the given bytes; the connection stays open unless `thenClose`. */
  | { does: 'raw'; bytes: string | Buffer; thenClose?: boolean }
  | { does: 'redirect'; to: string; status?: number }
  /** Sends an endless body as fast as possible. */
  | { does: 'endless_body' }
  /** Sends about this many bytes of headers. Default: 64 KiB. */
  | { does: 'huge_headers'; bytes?: number }
  /** Sends endless headers as fast as possible. */
  | { does: 'endless_headers' }
  /** Sends endless informational responses. Default: 103. */
  | { does: 'informational_flood'; status?: 100 | 102 | 103 }
  /** Sends 204 with an announced body. */
  | { does: 'body_on_204' }

export type Behaviour = Reply | Misbehaviour

const ok = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'
const partOfBody = `${ok}content-length: 100\r\n\r\nonly a part`
const endlessBody = Buffer.alloc(64 * 1024, 'x')

/** Responds to a request in the given way. */
export function behave(behaviour: Behaviour, response: ServerResponse): void {
  if ('does' in behaviour) misbehave(behaviour, response)
  else reply(behaviour, response)
}

function misbehave(behaviour: Misbehaviour, response: ServerResponse): void {
  const { socket } = response
  switch (behaviour.does) {
    case 'hang':
      break
    case 'hang_in_body':
      socket?.write(partOfBody)
      break
    case 'drip':
      drip(behaviour, response)
      break
    case 'reset':
      socket?.resetAndDestroy()
      break
    case 'close_in_body':
      socket?.end(partOfBody)
      break
    case 'raw':
      if (behaviour.thenClose) socket?.end(behaviour.bytes)
      else socket?.write(behaviour.bytes)
      break
    case 'redirect':
      reply({ status: behaviour.status ?? 302, headers: { location: behaviour.to } }, response)
      break
    case 'endless_body':
      pour(endlessBody, response.writeHead(200))
      break
    case 'huge_headers':
      socket?.write(`${ok}x-filler: ${'x'.repeat(behaviour.bytes ?? 65_536)}\r\ncontent-length: 0\r\n\r\n`)
      break
    case 'endless_headers':
      socket?.write(ok)
      pour(Buffer.from(`x-filler: ${'x'.repeat(1000)}\r\n`), socket)
      break
    case 'informational_flood':
      pour(Buffer.from(`HTTP/1.1 ${behaviour.status ?? 103} Wait\r\n\r\n`), socket)
      break
    case 'body_on_204':
      socket?.write('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello')
      break
  }
}

function reply({ status = 200, headers = {}, body = '', delayMs = 0, after }: Reply, response: ServerResponse): void {
  const answer = () => void response.writeHead(status, headers).end(body)
  if (after !== undefined) void after.then(answer)
  else if (delayMs === 0) answer()
  else {
    const timer = setTimeout(answer, delayMs)
    response.once('close', () => clearTimeout(timer))
  }
}

function drip({ everyMs, part = 'body' }: { everyMs: number; part?: 'all' | 'body' }, response: ServerResponse): void {
  const { socket } = response
  const head = `${ok}content-length: 100000\r\n\r\n`
  let rest = head + 'x'.repeat(100_000)
  const write = (bytes: number) => {
    socket?.write(rest.slice(0, bytes))
    rest = rest.slice(bytes)
  }
  if (part === 'body') write(head.length)
  onSocketClose(
    response,
    setInterval(() => write(1), everyMs),
  )
}

function pour(chunk: Buffer, into: Writable | null): void {
  const endless = function* () {
    while (true) yield chunk
  }
  if (into) pipeline(Readable.from(endless()), into, () => {}) // ends when the client disconnects
}

function onSocketClose({ socket }: ServerResponse, timer: NodeJS.Timeout): void {
  socket?.once('close', () => clearTimeout(timer))
}
