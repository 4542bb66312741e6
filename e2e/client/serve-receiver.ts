import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Answers a `Request` with a `Response`, as handlers do on most platforms. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

export type Receiving = { url: string; close(): void }

/** Serves a handler of `node:http`. */
export async function serveListener(listener: RequestListener): Promise<Receiving> {
  const server: Server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Serves a handler of `Request`, as its platform would. */
export function serveFetch(handler: FetchHandler): Promise<Receiving> {
  return serveListener(async (incoming, response) => {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece)
    const headers = new Headers()
    for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
      headers.append(incoming.rawHeaders[i] ?? '', incoming.rawHeaders[i + 1] ?? '')
    }
    const { method = 'GET', url } = incoming
    const body = method === 'GET' ? null : Buffer.concat(pieces)
    const answer = await handler(new Request(new URL(url ?? '/', 'http://receiver.test'), { method, headers, body }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
}
