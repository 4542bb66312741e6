import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' }

/** Serves a folder, and Belfry under `/api` of the same origin, as a reverse proxy does. */
export async function servePage(folder: string, belfryUrl: string): Promise<{ url: string; close(): void }> {
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/'
    if (path.startsWith('/api/')) return forward(incoming, response, belfryUrl)
    const file = join(folder, path === '/' ? 'index.html' : path)
    readFile(file).then(
      content => response.setHeader('Content-Type', types[extname(file)] ?? 'text/plain').end(content),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function forward(incoming: IncomingMessage, response: ServerResponse, belfryUrl: string): void {
  const { method, headers, url } = incoming
  const outgoing = request(new URL(url ?? '/', belfryUrl), { method, headers }, answer => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  outgoing.on('error', () => response.destroy())
  incoming.pipe(outgoing)
}
