import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'

type Claims = Record<string, unknown>

/** An issuer that says what a test wants, also what an honest issuer never says. */
export type FakeIssuer = {
  url: string
  /** The claims of the ID token that answers each code. */
  tokens: Map<string, string>
  /** The response of the user info endpoint. */
  userInfo: Claims
  /** Members of the metadata that are different. */
  metadata: Claims
  /** How often the keys were read. */
  keyReads: number
  /** Signs a token; `alg: none` leaves the signature out. */
  sign(claims: Claims, by?: { key?: CryptoKey | Uint8Array; header?: Claims }): Promise<string>
  close(): void
}

export async function startFakeIssuer(): Promise<FakeIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', issuer.url)
    if (pathname === '/.well-known/openid-configuration') return json(response, { ...endpoints(), ...issuer.metadata })
    if (pathname === '/jwks') {
      issuer.keyReads += 1
      return json(response, { keys: [jwk] })
    }
    if (pathname === '/userinfo') return json(response, issuer.userInfo)
    if (pathname !== '/token') return json(response, {}, 404)
    let body = ''
    for await (const part of request) body += part
    const token = issuer.tokens.get(new URLSearchParams(body).get('code') ?? '')
    if (token === undefined) return json(response, { error: 'invalid_grant' }, 400)
    return json(response, { access_token: 'a token', token_type: 'Bearer', id_token: token })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
  const endpoints = () => ({
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    userinfo_endpoint: `${url}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: ['S256'],
  })
  const issuer: FakeIssuer = {
    ...{ url, tokens: new Map(), userInfo: {}, metadata: {}, keyReads: 0 },
    sign(claims, { key = privateKey, header = {} } = {}) {
      const now = Math.floor(Date.now() / 1000)
      const payload = { iss: url, iat: now, exp: now + 300, ...claims }
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header }).sign(key)
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return issuer
}

function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
