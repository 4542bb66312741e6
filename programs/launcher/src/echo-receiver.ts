import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { freePort } from '@belfry/embedded'
import { printable } from './log-line.ts'
import type { Opened } from './opened.ts'
import { clockTime, say } from './terminal.ts'

export type Receiver = Opened & { url: string }

const maxBodyCharacters = 1024 * 1024

/** Starts a target for experiments, on loopback: it shows every request, and responds with it. */
export async function startEchoReceiver(wantedPort: number): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    request.setEncoding('utf8')
    let body = ''
    try {
      for await (const chunk of request) if (body.length < maxBodyCharacters) body += chunk
    } catch {
      return // the caller has left
    }
    const { method = '', url: path = '', headers } = request
    const echoed: EchoedRequest = { method, path, headers, body }
    say(echoLine(echoed, new Date()))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(echoed))
  })
  return openOnLoopback(server, wantedPort)
}

/** Lets a server listen on loopback: on the wanted port, or another one when it is taken. */
export async function openOnLoopback(server: Server, wantedPort: number): Promise<Receiver> {
  const port = await freePort(wantedPort)
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const stop = () => server.close().closeAllConnections()
  return { url: `http://127.0.0.1:${port}`, stop: async () => stop(), kill: stop }
}

/** A request to the echo receiver, and its response. */
type EchoedRequest = Pick<IncomingMessage, 'headers'> & { method: string; path: string; body: string }

const shownCharacters = 200

export function echoLine({ method, path, headers, body }: EchoedRequest, at: Date): string {
  const shown = body.length > shownCharacters ? `${body.slice(0, shownCharacters)}...` : body
  const parts = [clockTime(at), 'received', method, path, headers['webhook-id'] ?? '-', shown]
  return printable(parts.join(' ').trimEnd())
}
