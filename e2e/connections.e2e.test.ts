import { createPublicKey, randomBytes, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { createCertificate } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inMs } from './api-calls.ts'
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const runs = '/api/v1/scheduler/runs'
const random = () => randomBytes(18).toString('base64url')

describe('a connection', () => {
  const belfry = useBelfry('postgres')
  let issuer: AuthorizationServer
  const servers: Array<{ close(): Promise<void> }> = []
  beforeAll(async () => {
    issuer = await startAuthorizationServer(random())
  })
  afterAll(async () => {
    await Promise.all([issuer?.close(), ...servers.map(server => server.close())])
  })

  /** Starts a target that decides by itself which requests it accepts, and counts those. */
  const startTarget = async (handle: RequestListener, tls?: Parameters<typeof createSecureServer>[0]) => {
    const server = tls ? createSecureServer(tls, handle) : createServer(handle)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    servers.push({
      async close() {
        server.closeAllConnections()
        server.close()
        await once(server, 'close')
      },
    })
    return { host, url: `${tls ? 'https' : 'http'}://${host}/` }
  }
  /** Starts a target that accepts requests with some header, and repeats it in its answer as careless targets do. */
  const startChecking = (isAccepted: (authorization: string, request: IncomingMessage) => boolean | Promise<boolean>) =>
    startTarget(async (request, response) => {
      const given = request.headers.authorization ?? ''
      response.statusCode = (await isAccepted(given, request)) ? 200 : 401
      response.setHeader('x-echo', given)
      response.end(JSON.stringify({ headers: request.headers }))
    })
  const pathOf = (name: string) => `/api/v1/workspaces/${belfry.caller.workspaceId}/connections/${name}`
  const put = async (name: string, body: object) => {
    const { status, body: answer } = await belfry.call('PUT', pathOf(name), body)
    expect(answer).toMatchObject({ name })
    return status
  }
  const viaIssuer = (hosts: string[], more = {}) => {
    const { tokenUrl: token_url, clientId: client_id, clientSecret: client_secret } = issuer
    return { kind: 'oauth2', hosts, token_url, client_id, client_secret, ...more }
  }
  /** Runs a task until it is finished, and returns it with its last run in full. */
  const runTask = async (request: Record<string, unknown>) => {
    const body = { name: 'call', method: 'POST', execute_at: inMs(1_500), retry: { max_retries: 0 }, ...request }
    const created = await belfry.call('POST', tasks, body)
    expect(created.status, created.text).toBe(201)
    const { body: task } = await waitFor(
      () => belfry.call('GET', `${tasks}/${created.body.id}`),
      ({ body }) => body.state === 'success' || body.state === 'dead',
      60_000,
    )
    const { body: run, text } = await belfry.call('GET', `${runs}/${task.last_run.id}`)
    return { task, run, text }
  }

  it.concurrent('with a static header sends it to its hosts only, and the log has a reference', async () => {
    const value = `Token ${random()}`
    const target = await startChecking(given => given === value)
    const other = await startChecking(() => true)
    expect(await put('static', { kind: 'header', hosts: [target.host], value })).toBe(201)
    const { task, run, text } = await runTask({
      url: target.url,
      headers: { authorization: 'from the task' },
      connection: 'static',
    })
    expect([task.state, task.connection, run.response.headers['x-echo']]).toEqual([
      'success',
      'static',
      '{{ connections.static }}',
    ])
    expect(run.request.headers.Authorization).toBe('{{ connections.static }}')
    expect(run.request.headers.authorization).toBeUndefined()
    expect(text).not.toContain(value.slice(6))
    const refused = await runTask({ url: other.url, connection: 'static', retry: { max_retries: 3 } })
    expect([refused.task.attempts, refused.run.error.code]).toEqual([1, 'connection_not_allowed'])
    const missing = await runTask({ url: target.url, connection: 'unknown', retry: { max_retries: 3 } })
    expect([missing.task.attempts, missing.run.error.code]).toEqual([1, 'connection_missing'])
  })

  it.concurrent('with a user name and a password sends HTTP Basic', async () => {
    const password = random()
    const expected = Buffer.from(`me:${password}`).toString('base64')
    const target = await startChecking(given => given === `Basic ${expected}`)
    await put('basic', { kind: 'basic', hosts: [target.host], username: 'me', password })
    const { run, text } = await runTask({ url: target.url, connection: 'basic' })
    expect(run.response.status).toBe(200)
    expect(text).not.toContain(expected.slice(0, 12))
    expect(text).not.toContain(password)
  })

  it.concurrent('with an identity token proves the workspace, by keys that any verifier reads', async () => {
    const claimsOf = async (authorization: string) => {
      const [header = '', claims = '', signature = ''] = authorization.replace('Bearer ', '').split('.')
      const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
      const discovery = await (await fetch(`${belfry.url}/.well-known/openid-configuration`)).json()
      const { keys } = await (await fetch(discovery.jwks_uri)).json()
      const key = createPublicKey({ key: keys.find((one: { kid: string }) => one.kid === kid), format: 'jwk' })
      const isGenuine = verify(
        'RSA-SHA256',
        Buffer.from(`${header}.${claims}`),
        key,
        Buffer.from(signature, 'base64url'),
      )
      return isGenuine ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : null
    }
    let claims: Record<string, unknown> | null = null
    const target = await startChecking(async given => {
      claims = await claimsOf(given)
      return claims !== null
    })
    const audience = 'https://target.example'
    await put('identity', { kind: 'identity_token', hosts: [target.host], audience, lifetime_s: 60 })
    const { run, text } = await runTask({ url: target.url, connection: 'identity' })
    expect(run.response.status).toBe(200)
    const workspaceId = belfry.caller.workspaceId
    expect(claims).toMatchObject({
      iss: belfry.url,
      sub: `workspace:${workspaceId}:connection:identity`,
      aud: audience,
      workspace_id: workspaceId,
    })
    const { exp, iat } = claims as unknown as { exp: number; iat: number }
    expect(exp - iat).toBe(60)
    expect(text).not.toContain('eyJ')
  })

  it.concurrent('with certificates calls a target that demands one and is known to one authority only', async () => {
    const own = createCertificate('127.0.0.1')
    const client = createCertificate('belfry.example')
    const demands = { ...own, requestCert: true, ca: [client.cert] }
    const target = await startTarget((request, response) => {
      response.statusCode = (request.socket as TLSSocket).authorized ? 200 : 403
      response.end()
    }, demands)
    const trusted = { kind: 'tls', hosts: [target.host], ca_certificate: own.cert }
    const certificate = { client_certificate: client.cert, client_key: client.key }
    await put('trusting', trusted)
    await put('certified', { ...trusted, ...certificate })
    await put('untrusting', { ...trusted, ca_certificate: null, ...certificate })
    const answers = await Promise.all(
      ['certified', 'trusting', 'untrusting'].map(connection => runTask({ url: target.url, connection })),
    )
    expect(answers[0]?.run.response.status).toBe(200)
    expect(answers[1]?.task.state).toBe('dead')
    expect(answers[2]?.run.error.code).toBe('tls')
    const plain = await runTask({ url: target.url.replace('https', 'http'), connection: 'certified' })
    expect(plain.run.error.code).toBe('connection_not_allowed')
  })

  it('with client credentials needs one token for all calls of two dispatchers', async () => {
    let accepted = 0
    const target = await startChecking(async given => {
      if (!(await issuer.isValid(given.replace('Bearer ', '')))) return false
      accepted += 1
      return true
    })
    await put('oauth', viaIssuer([target.host]))
    const before = issuer.requested
    const body = { method: 'POST', url: target.url, execute_at: inMs(3_000), connection: 'oauth' }
    const calls = propertyRuns(1_000)
    const batch = { tasks: Array.from({ length: calls / 2 }, (_, i) => ({ ...body, name: `call ${i}` })) }
    const stored = await Promise.all([1, 2].map(() => belfry.call('POST', `${tasks}/batch`, batch)))
    expect(stored.map(({ status }) => status)).toEqual([200, 200])
    await waitFor(
      async () => accepted,
      count => count === calls,
      60_000,
    )
    expect(issuer.requested - before).toBe(1)
    const dispatchers = await belfry.execute(
      `SELECT FROM dispatchers WHERE NOT quarantine AND seen_at > now() - interval '1 minute'`,
    )
    expect(dispatchers.length).toBeGreaterThan(1)
  })

  it('replaces a token that the target refuses once, within the attempt', async () => {
    const refused = new Set<string>()
    const given: string[] = []
    const target = await startChecking(authorization => {
      given.push(authorization)
      return !refused.has(authorization)
    })
    await put('renewed', viaIssuer([target.host], { client_authentication: 'post' }))
    await runTask({ url: target.url, connection: 'renewed' })
    refused.add(given[0] ?? '')
    const { task, run } = await runTask({ url: target.url, connection: 'renewed', retry: { max_retries: 3 } })
    expect([task.state, task.attempts, run.attempt, run.response.status]).toEqual(['success', 1, 1, 200])
    expect(run.timings).toBeNull() // there were two calls
    expect(given).toHaveLength(3)
    // A target that refuses every token does not make Belfry request one for each call.
    refused.add(given[2] ?? '')
    const requested = issuer.requested
    const last = await runTask({ url: target.url, connection: 'renewed' })
    expect([last.run.error.code, last.run.response.status]).toEqual(['http_status', 401])
    expect(issuer.requested).toBe(requested)
  })

  it('whose credentials were revoked ends in an error that says so, without the secret', async () => {
    const target = await startChecking(() => true)
    const client_secret = random()
    await put('revoked', viaIssuer([target.host], { client_secret }))
    const { task, run, text } = await runTask({
      url: target.url,
      connection: 'revoked',
      retry: { max_retries: 1, base_delay_ms: 1_000 },
    })
    expect([task.attempts, run.error.code, run.response]).toEqual([2, 'connection_failed', null])
    expect(run.error.message).toMatch(/^Nothing was sent: The token endpoint answered 401 invalid_client/)
    expect(text).not.toContain(client_secret)
    const tried = await belfry.call('POST', `${pathOf('revoked')}/test`, {})
    expect(tried.body).toMatchObject({ ok: false, message: expect.stringContaining('401 invalid_client') })
    await put('revoked', viaIssuer([target.host]))
    expect((await belfry.call('POST', `${pathOf('revoked')}/test`, {})).body).toEqual({
      ok: true,
      message: 'The token endpoint issued a token for 3600 seconds.',
      response_status: null,
    })
    const called = await belfry.call('POST', `${pathOf('revoked')}/test`, { url: target.url })
    expect(called.body).toMatchObject({ ok: true, response_status: 200 })
  })

  it('obeys the rules for addresses and sizes at the token endpoint', async () => {
    const target = await startChecking(() => true)
    await put('inward', viaIssuer([target.host], { token_url: 'http://private.localtest.invalid/token' }))
    const unknown = await runTask({ url: target.url, connection: 'inward' })
    expect(unknown.run.error.code).toBe('connection_failed')
    const blocked = await belfry.call(
      'PUT',
      pathOf('inward'),
      viaIssuer([target.host], { token_url: 'http://10.0.0.1/' }),
    )
    expect([blocked.status, blocked.body.errors[0]?.code]).toEqual([400, 'blocked_address'])
    await put('long', viaIssuer([target.host], { scope: 'long' }))
    issuer.next((_request, response) => void response.end(JSON.stringify({ access_token: 'x'.repeat(100_000) })))
    const { run } = await runTask({ url: target.url, connection: 'long' })
    expect(run.error).toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('valid access_token'),
    })
  })

  it('keeps its secrets through a change that sends them nowhere new, and is not deleted while it is used', async () => {
    const { tokenUrl, clientId } = issuer
    await put('kept', viaIssuer(['api.example.com', 'other.example.com']))
    const without = { kind: 'oauth2', hosts: ['api.example.com'], token_url: tokenUrl, client_id: clientId }
    expect(await put('kept', { ...without, scope: 'a' })).toBe(200)
    for (const change of [{ hosts: ['evil.example.com'] }, { token_url: 'http://127.0.0.1:9/token' }]) {
      const { status, body } = await belfry.call('PUT', pathOf('kept'), { ...without, ...change })
      expect([status, body.errors[0].path]).toEqual([400, 'client_secret'])
    }
    const subscription = { topic: 'a.b', url: 'https://api.example.com/', connection: 'kept' }
    const subscriptions = '/api/v1/scheduler/subscriptions'
    const created = await belfry.call('POST', subscriptions, subscription)
    expect(created.body.connection).toBe('kept')
    const refused = await belfry.call('DELETE', pathOf('kept'))
    expect([refused.status, refused.body.code]).toEqual([409, 'connection_in_use'])
    await belfry.call('PATCH', `${subscriptions}/${created.body.id}`, { connection: null })
    expect((await belfry.call('DELETE', pathOf('kept'))).status).toBe(204)
    expect((await belfry.call('GET', pathOf('kept'))).status).toBe(404)
  })
})
