import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Provider } from 'oidc-provider'

export type OidcUser = {
  email: string
  email_verified?: boolean
  name: string
  groups?: string[]
}

/** An OpenID Connect issuer on this machine, whose users sign in with their login only. */
export type OidcIssuer = {
  /** The issuer. */
  url: string
  clientId: string
  clientSecret: string
  /** The users by their logins. Tests may change them. */
  users: Map<string, OidcUser>
  close(): Promise<void>
}

/** Starts the package oidc-provider. It accepts each redirect URI, because tests know the address of Belfry later. */
export async function startOidcIssuer(): Promise<OidcIssuer> {
  const users = new Map<string, OidcUser>()
  const client = { client_id: 'belfry', client_secret: 'a secret of the client' }
  let handle = (_request: IncomingMessage, _response: ServerResponse): unknown => null
  const server = createServer((request, response) => void handle(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const provider = new Provider(url, {
    clients: [{ ...client, redirect_uris: ['http://localhost/callback'] }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'test', use: 'sig' }] },
    cookies: { keys: ['a key of the cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: true, logoutSource } },
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    async findAccount(_context, login) {
      const user = users.get(login)
      return user && { accountId: login, claims: () => ({ sub: login, ...user }) }
    },
    // Users consent to everything.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId,
        accountId: oidc.session?.accountId,
      })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
  const anyUri = () => true
  Object.assign(provider.Client.prototype, { redirectUriAllowed: anyUri, postLogoutRedirectUriAllowed: anyUri })
  const serve = provider.callback()
  handle = async (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) return serve(request, response)
    if (request.method === 'GET') return response.setHeader('Content-Type', 'text/html').end(signInPage)
    const login = new URLSearchParams(await text(request)).get('login') ?? ''
    const result = users.has(login) ? { login: { accountId: login } } : { error: 'access_denied' }
    await provider.interactionFinished(request, response, result)
  }
  return {
    ...{ url, users, clientId: client.client_id, clientSecret: client.client_secret },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const signInPage = `<!doctype html><html lang="en"><head><title>Issuer</title><link rel="icon" href="data:,"></head><body>
  <form method="post"><label>Login <input name="login"></label><button>Continue</button></form></body></html>`

// The page of the package loads a font from another host.
async function logoutSource(context: { body: unknown }, form: string): Promise<void> {
  context.body = `<!doctype html><html lang="en"><head><title>Sign out</title><link rel="icon" href="data:,"></head><body>${form}
    <button form="op.logoutForm" name="logout" value="yes">Sign out of the issuer</button></body></html>`
}
