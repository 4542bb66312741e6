import { fieldErrors, runErrors } from '@belfry/contract/explained-codes'
import type { Operation } from '@belfry/contract/operation'
import { operations as declared } from '@belfry/contract/operations'
import { appErrorCodes } from '@belfry/domain/app-error'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { routes } from '../src/routes.ts'
import { anOrganization, trust } from './organization.ts'
import { objects } from './permissions/objects.ts'
import { readOpenApi } from './read-openapi.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
let document: Json

beforeAll(async () => {
  document = await readOpenApi(api)
})

function operations(): Array<{ address: string; operation: Json }> {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ address: `${method} ${path}`, operation })),
  )
}

describe('GET /api/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document', async () => {
    const { body } = await api.send('GET', '/api/openapi.json')
    expect(await new Validator().validate(body)).toEqual({ valid: true })
    expect(document.openapi).toBe('3.1.1')
  })

  it('has every route and nothing else', () => {
    const served = Object.entries(routes).flatMap(([path, methods]) =>
      Object.keys(methods).map(method => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
    )
    expect(operations().map(({ address }) => address)).toEqual(served)
  })

  it('serves each operation with the endpoint of its name', () => {
    for (const { method, path, response } of Object.values<Operation>(declared)) {
      expect(routes[path]?.[method.toLowerCase() as 'get']?.response, `${method} ${path}`).toBe(response)
    }
  })

  it('names each operation once, and summarizes it in one line', () => {
    const ids = operations().map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operation } of operations()) expect(operation.summary).toMatch(/^[A-Z].{5,90}[^.]$/)
  })

  it('gives every schema an example that the schema accepts', () => {
    const ajv = new Ajv2020({ strict: false })
    formats.default(ajv)
    ajv.addSchema({ $id: 'api', components: document.components })
    const compiled = new Map<string, ValidateFunction>() // most answers have a schema that others have too
    for (const { address, operation } of operations()) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part: Json) =>
        Object.entries<Json>(part?.content ?? {}).filter(([type]) => /[/+]json$/.test(type)),
      )
      for (const [type, { schema, example }] of contents) {
        const own = JSON.stringify(schema).replaceAll('"#/components', '"api#/components')
        const validate = compiled.get(own) ?? ajv.compile(JSON.parse(own))
        compiled.set(own, validate)
        validate(example)
        expect([address, type, validate.errors ?? null]).toEqual([address, type, null])
      }
    }
  })

  // What an example cannot have: the password of an account, the token of a mail, a finished task.
  const refused: Record<string, number> = {
    'post /api/v1/auth/login': 401,
    'post /api/v1/auth/login/factor': 401,
    'post /api/v1/auth/login/passkey': 401,
    'post /api/v1/auth/login/passkey/options': 401,
    'post /api/v1/auth/confirm': 400,
    'post /api/v1/auth/factors/passkeys': 400,
    'post /api/v1/auth/factors/totp/confirm': 400,
    'post /api/v1/auth/password/reset': 400,
    'post /api/v1/auth/me/delete': 400,
    'post /api/v1/auth/oidc/start': 404,
    'post /api/v1/auth/token-exchange': 401,
    'post /api/v1/organizations/{org}/transfer': 404,
    'post /api/v1/auth/email/confirm': 400,
    'post /api/v1/integrations/confirm': 400,
    'post /api/v1/integrations/unsubscribe': 400,
    'post /api/v1/invitations/preview': 404,
    'post /api/v1/invitations/accept': 404,
    'post /api/v1/scheduler/tasks/{task}/replay': 409,
  }

  it('has examples that are accepted at any time', async () => {
    const { body: later } = await api.send('GET', '/api/openapi.json')
    vi.spyOn(api.ctx.config.operators, 'includes').mockReturnValue(true)
    onTestFinished(() => void vi.restoreAllMocks())
    const refusals: string[] = []
    const send = async ({ address, operation }: ReturnType<typeof operations>[number]) => {
      const [method = '', path = ''] = address.split(' ')
      const example = later.paths[path][method].requestBody?.content['application/json'].example
      if (example === undefined) return
      const organization = await anOrganization(api)
      await trust(api, organization.owner)
      const filled: string[] = []
      for (const part of path.split('/')) {
        const name = /^\{(\w+)\}$/.exec(part)?.[1]
        filled.push(name ? String(await objects[name]?.(api, organization)) : part)
      }
      const headers = { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId }
      const { status, text } = await api.send(method.toUpperCase(), filled.join('/'), example, headers)
      const successes = Object.keys(operation.responses).filter(each => each.startsWith('2'))
      const wanted = refused[address] === undefined ? successes : [String(refused[address])]
      if (!wanted.includes(String(status))) refusals.push(`${address}: ${status} ${text}`)
    }
    // These wait for a dispatcher, up to ten seconds.
    const waiting = operations().filter(({ address }) => address.endsWith('/test'))
    const answers = waiting.map(send)
    for (const each of operations()) if (!waiting.some(({ address }) => address === each.address)) await send(each)
    await Promise.all(answers)
    expect(refusals).toEqual([])
  }, 120_000)

  it('has example times in the future', async () => {
    const { example } = document.paths['/api/v1/scheduler/tasks'].post.requestBody.content['application/json']
    expect(Date.parse(example.execute_at)).toBeGreaterThan(Date.now() + 3_000_000)
    vi.spyOn(api.ctx.clock, 'now').mockReturnValue(Date.parse('2040-01-01T00:00:00.500Z'))
    onTestFinished(() => void vi.restoreAllMocks())
    const { text } = await api.send('GET', '/api/openapi.json')
    expect(text).toContain('"execute_at":"2040-01-01T01:00:00Z"')
    expect(text).not.toContain('now+')
    expect((await api.send('GET', '/api/docs')).text).toContain('2040-01-01T01:00:00Z')
  })

  it('documents how a session begins, is renewed and ends', () => {
    const { paths, components } = document
    const headersOf = (path: string, method: string, status: string) =>
      Object.keys(paths[`/api/v1/${path}`][method].responses[status].headers)
    expect(headersOf('auth/register', 'post', '201')).toEqual(['X-Request-Id', 'Set-Cookie'])
    expect(headersOf('auth/login', 'post', '200')).toEqual(['X-Request-Id', 'Set-Cookie'])
    expect(headersOf('auth/logout', 'post', '204')).toContain('Set-Cookie')
    expect(headersOf('invitations/accept', 'post', '200')).toContain('Set-Cookie')
    for (const { operation } of operations()) {
      const takesSession = operation.security.some((scheme: Json) => 'session' in scheme)
      for (const { headers } of Object.values<Json>(operation.responses)) {
        expect('X-Session-Token' in headers).toBe(takesSession)
      }
    }
    expect(Object.keys(components.headers)).toEqual(expect.arrayContaining(['Set-Cookie', 'X-Session-Token']))
    expect(components.schemas.SignedIn.required).toEqual(['user', 'token', 'expires_at'])
  })

  it('requires ids or a filter of dead letters, never both', async () => {
    for (const act of ['replay', 'discard']) {
      const { schema, example } =
        document.paths[`/api/v1/scheduler/dead-letters/${act}`].post.requestBody.content['application/json']
      expect(Object.keys(example)).toEqual(act === 'replay' ? ['ids', 'per_second'] : ['ids'])
      expect(schema.oneOf).toEqual([{ required: ['ids'] }, { required: ['filter'] }])
      expect(await api.call('POST', `/api/v1/scheduler/dead-letters/${act}`, example)).toMatchObject({ status: 200 })
    }
  })

  it('documents credentials, parameters and refusals', () => {
    const { get, post } = document.paths['/api/v1/scheduler/tasks']
    expect(post.security).toEqual([{ apiKey: [] }, { apiKeyBearer: [] }, { session: [] }, { cookie: [] }])
    expect(Object.keys(post.responses)).toEqual([
      '200',
      '201',
      '400',
      '401',
      '402',
      '403',
      '404',
      '408',
      '409',
      '413',
      '415',
      '417',
      '429',
      '431',
      '500',
      '503',
      '508',
    ])
    expect(post.responses['400'].description).toContain('`malformed_json`')
    const key = post.parameters.find(({ name }: Json) => name === 'Idempotency-Key')
    expect([key.required, Object.keys(post.responses['201'].headers)]).toEqual([
      false,
      expect.arrayContaining(['Idempotent-Replayed']),
    ])
    const parameters = Object.fromEntries(get.parameters.map((each: Json) => [each.name, each.schema]))
    expect(parameters.limit).toMatchObject({ type: 'integer', minimum: 1, maximum: 100, default: 25 })
    expect(parameters.state).toMatchObject({ type: 'array', items: { enum: expect.arrayContaining(['dead']) } })
    expect(parameters.from).toMatchObject({ type: 'string', format: 'date-time' })
    const body = document.paths['/api/v1/scheduler/cronjobs'].post.requestBody.content['application/json'].schema
    expect(body).toMatchObject({
      additionalProperties: false,
      required: ['name', 'url', 'method', 'cron'],
      properties: { url: { maxLength: 2048 }, timezone: { default: 'UTC' } },
    })
  })
})

describe('GET /api/docs', () => {
  it('shows every operation on a page that loads nothing', async () => {
    const response = await fetch(`${api.url}/api/docs`)
    const page = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(page).not.toMatch(/<script|<img|<link| src=| style=| onload=/i)
    for (const { operation } of operations()) expect(page).toContain(`<article id="${operation.operationId}">`)
    const stream = page.slice(page.indexOf('<code>/api/v1/scheduler/runs/stream</code>'))
    expect(stream.slice(0, stream.indexOf('</article>'))).toMatch(
      /<p>As <code>text\/event-stream<\/code>\.<\/p><pre[^>]*><code>retry: \d+\n\nid: run_.*\n.*\ndata: .*\}<\/code>/,
    )
  })
})

it.each(['/api/openapi.json', '/api/docs'])('compresses %s for clients that accept gzip', async path => {
  vi.spyOn(api.ctx.clock, 'now').mockReturnValue(Date.parse('2040-01-01T00:00:00Z')) // for equal times in both
  onTestFinished(() => void vi.restoreAllMocks())
  const [plain, compressed] = await Promise.all(
    ['gzip;q=0', 'br, gzip'].map(accepted => api.send('GET', path, undefined, { 'Accept-Encoding': accepted })),
  )
  expect(plain?.headers.get('content-encoding')).toBeNull()
  expect(compressed?.headers.get('content-encoding')).toBe('gzip')
  expect([plain, compressed].map(answer => answer?.headers.get('vary'))).toEqual(['Accept-Encoding', 'Accept-Encoding'])
  expect(compressed?.text).toBe(plain?.text)
  const [all, sent] = [plain, compressed].map(answer => Number(answer?.headers.get('content-length')))
  expect(sent).toBeLessThan(Number(all) / 5)
})

describe('GET /api/problems/{code}', () => {
  it.each(appErrorCodes)('documents %s as JSON and as a page', async code => {
    const json = await api.send('GET', `/api/problems/${code}`)
    expect(json.body).toMatchObject({ code, title: expect.any(String), description: expect.any(String) })
    const page = await fetch(`${api.url}/api/problems/${code}`, { headers: { Accept: 'text/html,*/*;q=0.8' } })
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(await page.text()).toContain(json.body.title)
  })

  it.each(Object.keys({ ...fieldErrors, ...runErrors }))('explains the code %s of a field or a run', async code => {
    const { body } = await api.send('GET', `/api/problems/${code}`)
    for (const codes of [fieldErrors, runErrors as typeof fieldErrors]) {
      for (const text of Object.values(codes[code] ?? {})) expect(body.description).toContain(text)
    }
    const page = await fetch(`${api.url}/api/problems/${code}`, { headers: { Accept: 'text/html' } })
    expect(await page.text()).toContain(`<h1>${body.title}</h1>`)
  })

  it('has no page for other words', async () => {
    for (const code of ['constructor', '__proto__', 'toString', 'Timeout']) {
      expect((await api.send('GET', `/api/problems/${code}`)).status).toBe(404)
    }
  })

  it('is what the type of a problem points to', async () => {
    const refused = await api.send('GET', '/api/v1/scheduler/tasks')
    const path = new URL(refused.body.type).pathname
    expect((await api.send('GET', path)).body.code).toBe(refused.body.code)
  })
})
