import { randomBytes } from 'node:crypto'
import { type MailServer, queueBackends, type Receiver, startMailServer, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, callApi, inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'
import { dumpDatabase, dumpRedis, findCanaries, formsOf, type Haystacks } from './canaries.ts'

const tasks = '/api/v1/scheduler/tasks'
const random = () => randomBytes(18).toString('base64')

describe.each(queueBackends())('after a life with secrets, with the queue on %s', backend => {
  const canaries: Record<string, string> = {
    'a secret in a url': `url/${random()}?&`,
    'a secret in a header': `header "${random()}" é`,
    'a secret in a payload': `payload\n\\${random()}日本`,
    'the value of a connection': `connection ${random()}`,
    'the password of a connection': `connection password ${random()}`,
    'a client secret': `client ${random()}`,
    'an access token': `token-${random()}`,
    'a password': `password ${random()}`,
    'a new password': `new password ${random()}`,
    'the master key': randomBytes(32).toString('base64'),
    'the key of sessions': randomBytes(24).toString('base64'),
    'the password of operators': `operators ${random()}`,
  }
  let belfry: Belfry
  let target: Receiver
  let mailServer: MailServer
  beforeAll(async () => {
    target = await startReceiver()
    mailServer = await startMailServer()
    const env = {
      ENCRYPTION_KEYS: `k1:${canaries['the master key']}`,
      JWT_SECRET: canaries['the key of sessions'] ?? '',
      OPERATOR_PASSWORD: canaries['the password of operators'] ?? '',
      LOG_LEVEL: 'trace',
      SMTP_URL: mailServer.url,
      MAIL_FROM: 'Belfry <belfry@example.com>',
    }
    belfry = await startBelfry(backend, { env })
    await live()
  })
  afterAll(async () => {
    await belfry?.close()
    await target?.close()
    await mailServer?.close()
  })

  async function live(): Promise<void> {
    const me = await signUpWithCanaries()
    const call = (method: string, path: string, body?: unknown) => callApi(belfry.url, me, method, path, body)
    const secrets = {
      IN_URL: 'a secret in a url',
      IN_HEADER: 'a secret in a header',
      IN_PAYLOAD: 'a secret in a payload',
    }
    for (const [name, canary] of Object.entries(secrets)) {
      const path = `/api/v1/workspaces/${me.workspaceId}/secrets/${name}`
      expect((await call('PUT', path, { value: canaries[canary] })).status).toBe(201)
      // A rejected request must not be stored either.
      expect((await call('PUT', path, `{"value": ${JSON.stringify(canaries[canary])}`)).status).toBe(400)
      expect((await call('PUT', path, { value: canaries[canary], extra: canaries[canary] })).status).toBe(400)
    }
    await callThroughConnections(me.workspaceId ?? '', call)
    const signing = await call('GET', `/api/v1/workspaces/${me.workspaceId}/signing-secrets`)
    canaries['a signing secret'] = signing.body.data[0].secret
    canaries['the bytes of a signing secret'] = signing.body.data[0].secret.slice('whsec_'.length)
    await requestMails()
    await visitBoard()
    await runTasks(call)
    await sendInEveryPath()
  }

  // Targets and token endpoints repeat what they have received.
  async function callThroughConnections(
    workspaceId: string,
    call: (method: string, path: string, body?: unknown) => Promise<Answer>,
  ): Promise<void> {
    const names = ['the value of a connection', 'the password of a connection', 'a client secret', 'an access token']
    const [value, password, clientSecret, token] = names.map(name => canaries[name] ?? '')
    target.answer('/token', { status: 200, body: JSON.stringify({ access_token: token }) })
    const error = JSON.stringify({ error: 'invalid_client', error_description: `not ${clientSecret}` })
    target.answer('/no-token', { status: 401, body: error })
    const oauth2 = { kind: 'oauth2', client_id: 'belfry', client_secret: clientSecret }
    const bodies = {
      header: { kind: 'header', value },
      basic: { kind: 'basic', username: 'belfry', password },
      oauth2: { ...oauth2, token_url: target.url('/token') },
      refused: { ...oauth2, token_url: target.url('/no-token') },
    }
    const own = { header: value, basic: password, oauth2: token, refused: clientSecret }
    for (const [name, body] of Object.entries(bodies)) {
      const path = `/api/v1/workspaces/${workspaceId}/connections/${name}`
      const hosts = [`127.0.0.1:${target.port}`]
      expect((await call('PUT', path, { ...body, hosts, extra: own })).status).toBe(400)
      expect((await call('PUT', path, { ...body, hosts })).status).toBe(201)
      const echoed = own[name as keyof typeof own] ?? ''
      const answer = { status: 500, headers: { 'x-echo': echoed }, body: `got ${echoed}` }
      target.answer(`/echo-${name}`, answer)
      const tried = await call('POST', `${path}/test`, { url: target.url(`/echo-${name}`) })
      expect(tried.body.ok).toBe(false)
      const event = { topic: 'canary', payload: {}, target_url: target.url(`/echo-${name}`), connection: name }
      const published = await call('POST', '/api/events', { ...event, retry: { max_retries: 0 } })
      await waitFor(
        async () => (await call('GET', `${tasks}/${published.body.tasks[0].id}`)).body.state,
        state => state === 'dead',
      )
    }
    expect(target.requestsTo('/echo-oauth2').at(-1)?.rawHeaders).toContain(`Bearer ${token}`)
  }

  // The tokens of mails stay unused, so they are still credentials when the log is read.
  async function requestMails() {
    const [owner, token] = [belfry.caller, belfry.caller.token ?? '']
    const me = await callApi(belfry.url, { token }, 'GET', '/api/v1/auth/me')
    await callApi(belfry.url, {}, 'POST', '/api/v1/auth/password/forgot', { email: me.body.user.email })
    const invitations = `/api/v1/organizations/${owner.organizationId}/invitations`
    await callApi(belfry.url, { token }, 'POST', invitations, { email: 'grace@example.com', role: 'member' })
    canaries['the token of a reset'] = await tokenFrom(/^Choose/)
    canaries['the token of an invitation'] = await tokenFrom(/^Join/)
  }

  async function tokenFrom(subject: RegExp): Promise<string> {
    const [mail] = await waitFor(
      async () => mailServer.mails.filter(mail => subject.test(mail.subject)),
      mails => mails.length === 1,
      60_000,
    )
    return /#([\w-]{43})/.exec(mail?.text ?? '')?.[1] ?? ''
  }

  // A user, or a page of another site, can write a credential into any part of a URL.
  async function sendInEveryPath() {
    const { body: openapi } = await callApi(belfry.url, {}, 'GET', '/api/openapi.json')
    const api = Object.entries<object>(openapi.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => ({ method: method.toUpperCase(), path })),
    )
    const pages = ['/reset-password/{x}', '/invitations/{x}', '/{x}/w/{x}/tasks', '/assets/{x}', '/{x}']
    const others = ['/api/v1/{x}', '/api/v1/invitations/{x}/more', '/api/{x}', '/admin/{x}', '/healthz/{x}']
    const all = [...api, ...[...pages, ...others].map(path => ({ method: 'GET', path }))]
    for (const canary of Object.values(canaries).map(encodeURIComponent)) {
      await Promise.all(
        all.map(async ({ method, path }) => {
          const url = `${belfry.url}${path.replace(/\{\w+\}/g, canary)}?token=${canary}`
          await (await fetch(url, { method, headers: { accept: 'text/html', 'x-api-key': 'none' } })).arrayBuffer()
        }),
      )
    }
  }

  async function visitBoard() {
    const visit = (name: string) => {
      const credentials = Buffer.from(`${name}:${canaries['the password of operators']}`).toString('base64')
      return fetch(`${belfry.url}/admin/queues`, { headers: { authorization: `Basic ${credentials}` } })
    }
    expect([(await visit('stranger')).status, (await visit('operator')).status]).toEqual([401, 200])
  }

  async function signUpWithCanaries() {
    const email = `${randomBytes(6).toString('hex')}@example.com`
    const body = { email, password: canaries['a password'], name: 'A user' }
    const registered = await callApi(belfry.url, {}, 'POST', '/api/v1/auth/register', body)
    const token = registered.body.token as string
    const confirmation = await tokenFrom(/^Confirm/)
    canaries['the token of a confirmation'] = confirmation
    const confirmed = await callApi(belfry.url, { token }, 'POST', '/api/v1/auth/email/confirm', {
      token: confirmation,
    })
    expect(confirmed.status).toBe(204)
    for (const password of [canaries['a password'], canaries['a new password']]) {
      await callApi(belfry.url, {}, 'POST', '/api/v1/auth/login', { email, password })
    }
    const organization = await callApi(belfry.url, { token }, 'POST', '/api/v1/organizations', { name: 'Acme' })
    const path = `/api/v1/organizations/${organization.body.id}/workspaces`
    const workspaceId = (await callApi(belfry.url, { token }, 'POST', path, { name: 'Main' })).body.id as string
    const keys = `/api/v1/workspaces/${workspaceId}/api-keys`
    const apiKey = (await callApi(belfry.url, { token }, 'POST', keys, { name: 'Key' })).body.key as string
    // Secrets in places where they are not allowed.
    await callApi(belfry.url, { apiKey: token, token: apiKey }, 'GET', tasks)
    Object.assign(canaries, { 'a session': token, 'an API key': apiKey })
    return { apiKey, workspaceId }
  }

  async function runTasks(call: (method: string, path: string, body?: unknown) => ReturnType<typeof callApi>) {
    const echoed = ['a secret in a url', 'a secret in a header', 'a secret in a payload'].map(
      name => canaries[name] ?? '',
    )
    const everything = echoed.flatMap(value => Object.values(formsOf(value)).map(form => Buffer.from(form, 'latin1')))
    const body = Buffer.concat(everything.flatMap(form => [Buffer.from(' | '), form]))
    const inHeader = echoed.map(encodeURIComponent).join()
    const answers = {
      '/200': { status: 200, headers: { 'x-echo': inHeader, 'x-plain': echoed[1] ?? '' }, body },
      '/500': { status: 500, body },
      '/302': { status: 302, headers: { location: `/?${inHeader}` }, body },
      '/cut': { status: 500, body: Buffer.concat([Buffer.alloc(65_526, '#'), body]) },
      '/zip': { status: 200, headers: { 'content-encoding': 'deflate' }, body },
      '/broken': {
        does: 'raw',
        bytes: `HTTP/1.1 200 OK\r\nx: ${inHeader}\r\ncontent-length: x\r\n\r\n`,
        thenClose: true,
      },
      '/hang': { does: 'hang' },
      '/reset': { does: 'reset' },
    } as const
    for (const [path, answer] of Object.entries(answers)) target.answer(path, answer)
    const urls = [...Object.keys(answers).map(path => target.url(path)), 'http://127.0.0.1:1/']
    const refused = [
      'http://{{ secrets.IN_PAYLOAD }}/',
      '{{ secrets.IN_URL }}',
      `${target.url('/200')}{{ secrets.NONE }}`,
    ]
    const created = await Promise.all(
      [...urls.map(url => `${url}?u={{ secrets.IN_URL }}`), ...refused].map(url =>
        call('POST', tasks, {
          ...{ name: 'canary', url, method: 'POST', execute_at: inMs(3000), timeout_ms: 1000 },
          headers: { 'X-Secret': '{{ secrets.IN_HEADER }}' },
          payload: { a: '{{ secrets.IN_PAYLOAD }}' },
          retry: { max_retries: 1, backoff: 'fixed', base_delay_ms: 1000 },
        }),
      ),
    )
    expect(created.map(({ status }) => status)).toEqual(created.map(() => 201))
    const states = () =>
      Promise.all(created.map(async ({ body }) => (await call('GET', `${tasks}/${body.id}`)).body.state))
    await waitFor(states, all => all.every(state => state === 'success' || state === 'dead'), 20_000)
    const [received] = target.requestsTo('/200')
    expect(received?.rawHeaders).toContain(echoed[1])
    expect(received?.body.toString()).toBe(JSON.stringify({ a: echoed[2] }))
  }

  async function everything(): Promise<Haystacks> {
    const logs = belfry.services.map(({ name, output }) => [`log of ${name}`, Buffer.from(output).toString('latin1')])
    return {
      ...(await dumpDatabase(belfry.databaseUrl)),
      ...(belfry.redisUrl === null ? {} : await dumpRedis(belfry.redisUrl)),
      ...Object.fromEntries(logs),
    }
  }

  it('no secret, key, token or password can be read in a table, in the queue or in a log', async () => {
    const haystacks = await everything()
    expect(Object.keys(haystacks)).toEqual(
      expect.arrayContaining(['public.secrets', 'public.runs', 'log of dispatcher']),
    )
    for (const log of ['api', 'dispatcher']) expect(haystacks[`log of ${log}`]).toContain('"msg"')
    expect(Object.values(haystacks).join()).toContain('{{ secrets.IN_URL }}')
    expect(Object.keys(canaries)).toHaveLength(19)
    expect(findCanaries(canaries, haystacks)).toEqual([])
  })

  it('and the search finds a canary in every form and every place', async () => {
    const [name = '', canary = ''] = Object.entries(canaries)[0] ?? []
    const forms = Object.entries(formsOf(canary))
    const db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
    const all = forms.map(([, form]) => form).join(' ')
    await db.query('UPDATE organizations SET name = $1', [all])
    const one = 'id = (SELECT id FROM api_keys LIMIT 1)'
    await db.query(`UPDATE api_keys SET hash = $1 WHERE ${one}`, [Buffer.from(all, 'latin1')])
    await db.end()
    if (belfry.redisUrl) {
      const redis = new Redis(belfry.redisUrl)
      await redis.hset('planted', 'field', all)
      redis.disconnect()
    }
    const places = ['public.organizations', 'public.api_keys', ...(belfry.redisUrl ? ['redis'] : []), 'log']
    const found = findCanaries({ [name]: canary }, { ...(await everything()), log: `{"msg":"${all}"}` })
    expect(found.sort()).toEqual(forms.flatMap(([form]) => places.map(place => `${name}, ${form}, ${place}`)).sort())
  })
})
