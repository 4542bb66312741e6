import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** An authorization server with one client, and what tests change in it. */
export type AuthorizationServer = {
  tokenUrl: string
  clientId: string
  clientSecret: string
  /** How many tokens were requested. */
  readonly requested: number
  /** Returns whether a token is valid, as a resource server finds out. */
  isValid(token: string): Promise<boolean>
  /** Handles the next request for a token in place of the server. */
  next(handle: (request: IncomingMessage, response: ServerResponse) => void): void
  close(): Promise<void>
}

/** Starts an authorization server that grants client credentials. */
export async function startAuthorizationServer(clientSecret: string): Promise<AuthorizationServer> {
  const clientId = 'belfry'
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    ttl: { ClientCredentials: 3_600 },
  })
  const callback = provider.callback()
  const instead: Array<(request: IncomingMessage, response: ServerResponse) => void> = []
  let requested = 0
  server.on('request', (request, response) => {
    if (request.url === '/token') {
      requested += 1
      const handle = instead.shift()
      if (handle) return handle(request, response)
    }
    callback(request, response)
  })
  return {
    tokenUrl: `${issuer}/token`,
    clientId,
    clientSecret,
    get requested() {
      return requested
    },
    isValid: async token => (await provider.ClientCredentials.find(token)) !== undefined,
    next: handle => void instead.push(handle),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
