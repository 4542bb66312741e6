import { finishConnectionTest, takeConnectionTest } from '@belfry/db/connections/connection-tests'
import { createCertificate } from '@belfry/test-support'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { anOrganization, type TestOrganization } from './organization.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

// Takes the next test of the installation, and one session makes a hundred connections at once.
const api = useApi({ RATE_LIMITS: 'off' }, { isAlone: true })
const path = ({ workspaceId }: { workspaceId: string }, name = '') =>
  `/api/v1/workspaces/${workspaceId}/connections${name}`
const header = { kind: 'header', hosts: ['api.example.com'], value: 'a secret value' }
const oauth2 = {
  ...{ kind: 'oauth2', hosts: ['api.example.com'], token_url: 'https://id.example.com/token' },
  ...{ client_id: 'belfry', client_secret: 'a client secret' },
}
const sendAs = (organization: TestOrganization) => (method: string, at: string, body?: unknown) =>
  api.send(method, at, body, { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId })

describe('a connection', () => {
  it('is created, replaced, listed and deleted, without its secrets, and the audit log has no secret either', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    const at = path(organization, '/billing-api')
    const made = await send('PUT', at, header)
    expect([made.status, made.headers.get('location')]).toEqual([201, at])
    const changed = await send('PUT', at, { ...header, header: 'X-Api-Key', hosts: ['api.example.com'] })
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({ header: 'X-Api-Key', kind: 'header' }),
    ])
    const listed = await send('GET', path(organization))
    expect(listed.body).toEqual({ data: [changed.body], next_cursor: null })
    expect((await send('GET', at)).body).toEqual(changed.body)
    expect((await send('DELETE', at)).status).toBe(204)
    const log = await send('GET', `/api/v1/organizations/${organization.id}/audit-log?object_id=billing-api`)
    expect(log.body.data.map(({ action }: Json) => action)).toEqual([
      'connection.deleted',
      'connection.changed',
      'connection.created',
    ])
    for (const { text } of [made, changed, listed, log]) expect(text).not.toContain('secret value')
  })

  it('keeps its secret only while the secret is sent to no new place', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    const at = path(organization, '/kept')
    const { client_secret: _, ...without } = oauth2
    await send('PUT', at, { ...oauth2, hosts: ['a.example.com', 'b.example.com'] })
    expect((await send('PUT', at, { ...without, hosts: ['a.example.com'], scope: 'a' })).status).toBe(200)
    const { cert } = createCertificate('api.example.com')
    const elsewhere = [
      { hosts: ['a.example.com', 'evil.example.com'] },
      { token_url: 'https://evil.example.com/token' },
      { ca_certificate: cert },
    ]
    for (const change of elsewhere) {
      const { status, body } = await send('PUT', at, { ...without, hosts: ['a.example.com'], ...change })
      expect([status, body.errors]).toMatchObject([400, [{ path: 'client_secret', code: 'required' }]])
    }
    const other = await send('PUT', at, { kind: 'header', hosts: ['a.example.com'] })
    expect(other.body.errors).toMatchObject([{ path: 'value', code: 'required' }])
  })

  it('keeps its secret while a form sends its certificate authority with other line ends', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    const at = path(organization, '/kept')
    const { cert } = createCertificate('api.example.com')
    const { value: _, ...without } = header
    await send('PUT', at, { ...header, ca_certificate: `${cert.trim().replaceAll('\n', '\r\n')}\r\n` })
    expect((await send('PUT', at, { ...without, ca_certificate: cert.trim() })).status).toBe(200)
  })

  it('takes certificates and their own key only, and repeats no key', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    const [own, other] = [createCertificate('a.example.com'), createCertificate('b.example.com')]
    const put = (body: object) =>
      send('PUT', path(organization, '/tls'), { kind: 'tls', hosts: ['a.example.com'], ...body })
    const both = { client_certificate: own.cert, client_key: own.key, ca_certificate: own.cert + other.cert }
    const stored = await put(both)
    expect([stored.status, stored.body.client_certificate]).toEqual([201, own.cert])
    expect(stored.text).not.toContain('PRIVATE KEY')
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    const refused: Array<[path: string, body: object]> = [
      ['ca_certificate', {}],
      ['ca_certificate', { ca_certificate: own.cert + broken }],
      ['ca_certificate', { ca_certificate: own.cert + own.key }],
      ['client_certificate', { ...both, client_certificate: own.key + own.cert }],
      ['client_certificate', { ca_certificate: own.cert, client_key: own.key }],
      ['client_key', { ...both, client_key: other.key }],
      ['client_key', { ...both, client_key: broken.replaceAll('CERTIFICATE', 'PRIVATE KEY') }],
    ]
    for (const [field, body] of refused) {
      const { status, body: problem, text } = await put(body)
      expect([status, problem.errors]).toMatchObject([400, [{ path: field }]])
      expect(text).not.toContain('BEGIN')
    }
  })

  it('is one of at most 100 in a workspace', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    // One after the other: those of one workspace wait for each other, and a request has ten seconds.
    for (let i = 0; i < 100; i++) {
      expect((await send('PUT', path(organization, `/number-${i}`), header)).status).toBe(201)
    }
    expect(await send('PUT', path(organization, '/one-more'), header)).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    })
    expect((await send('PUT', path(organization, '/number-1'), header)).status).toBe(200)
  })

  it.each(['-a', 'a b', 'x'.repeat(65), 'ä'])('is not called %j', async name => {
    const at = path(api.caller, `/${encodeURIComponent(name)}`)
    const { status, body } = await api.call('PUT', at, header)
    expect([status, body.errors?.[0].code]).toEqual([400, 'invalid_connection_name'])
    expect((await api.call('GET', at)).status).toBe(404)
  })

  it('needs a target in an event, because subscriptions have their own', async () => {
    const event = { topic: 'a.b', payload: {}, connection: 'a' }
    const refused = await api.call('POST', '/api/events', event)
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, 'connection'])
    const { status } = await api.call('POST', '/api/events', { ...event, target_url: 'https://api.example.com/' })
    expect(status).toBe(202)
  })
})

describe('the connection of another workspace', () => {
  it('is neither read, named, changed, tested nor deleted by an API key or a member', async () => {
    const [own, others] = [await anOrganization(api), await anOrganization(api)]
    const secret = 'of the others only'
    await sendAs(others)('PUT', path(others, '/theirs'), { ...header, value: secret })
    const member = await own.add('member', 'editor')
    const neighbor = await others.add('member') // in no workspace of the organization
    const callers = [
      await own.apiKey(),
      own.owner.session,
      { ...member.session, 'X-Workspace-Id': own.workspaceId },
      neighbor.session,
      await others.apiKeyOfAnotherWorkspace(),
    ]
    const calls = [
      ['GET', ''],
      ['GET', '/theirs'],
      ['PUT', '/theirs', header],
      ['DELETE', '/theirs'],
      ['POST', '/theirs/test', { url: 'https://api.example.com/' }],
    ] as const
    for (const headers of callers) {
      for (const [method, name, body] of calls) {
        const answer = await api.send(method, path(others, name), body, headers)
        expect([method, name, answer.status]).toEqual([method, name, 404])
        expect(answer.text).not.toContain('theirs')
      }
    }
    // The name of a connection means one of the caller's own workspace.
    expect((await api.send('GET', path(own, '/theirs'), undefined, callers[0])).status).toBe(404)
    const { body } = await api.send('GET', path(own), undefined, callers[0])
    expect(body.data).toEqual([])
    expect((await sendAs(others)('GET', path(others, '/theirs'))).body.updated_at).toBeDefined()
  })

  it('is not used by tasks that have its name', async () => {
    const [own, others] = [await anOrganization(api), await anOrganization(api)]
    const put = (organization: TestOrganization, hosts: string[]) =>
      sendAs(organization)('PUT', path(organization, '/shared-name'), { ...header, hosts })
    await put(others, ['others.example.com'])
    const created = await api.send(
      ...(['POST', '/api/v1/scheduler/tasks', aTaskBody({ connection: 'shared-name' })] as const),
      { ...own.owner.session, 'X-Workspace-Id': own.workspaceId },
    )
    expect([created.status, created.body.connection]).toEqual([201, 'shared-name'])
    await put(own, ['own.example.com'])
    expect((await sendAs(others)('GET', path(others, '/shared-name'))).body.hosts).toEqual(['others.example.com'])
    expect((await sendAs(others)('DELETE', path(others, '/shared-name'))).status).toBe(204)
    expect((await sendAs(own)('GET', path(own, '/shared-name'))).status).toBe(200)
  })
})

describe('a test of a connection', () => {
  beforeEach(() => api.db.query('DELETE FROM connection_tests'))

  /** Waits until so many tests have begun, and makes their waiting seem longer. */
  async function pass(ms: number, begun = 1) {
    await expect.poll(() => api.count('connection_tests'), { timeout: 10_000 }).toBe(begun)
    const now = performance.now.bind(performance)
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
    onTestFinished(() => void clock.mockRestore())
    return clock
  }

  it('ends after five seconds when no dispatcher runs it, and shows its outcome otherwise', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    await send('PUT', path(organization, '/tested'), oauth2)
    const test = () => send('POST', path(organization, '/tested/test'), {})
    const untaken = test()
    const clock = await pass(5_000)
    expect((await untaken).body).toEqual({
      ok: false,
      message: 'No dispatcher has started the test within 5 seconds.',
      response_status: null,
    })
    clock.mockRestore()
    await api.db.query('DELETE FROM connection_tests') // a dispatcher would not take one of five seconds ago
    const testing = test()
    await expect
      .poll(async () => {
        const taken = await takeConnectionTest(api.db, [])
        if (taken) await finishConnectionTest(api.db, taken.id, { ok: true, message: 'It works.', responseStatus: 204 })
        return taken
      })
      .toMatchObject({ name: 'tested', url: null })
    expect((await testing).body).toEqual({ ok: true, message: 'It works.', response_status: 204 })
  })

  it('ends after 25 seconds when its dispatcher does not end it', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    await send('PUT', path(organization, '/tested'), oauth2)
    const testing = send('POST', path(organization, '/tested/test'), {})
    await expect.poll(() => takeConnectionTest(api.db, [])).toMatchObject({ name: 'tested' })
    await pass(25_000)
    expect((await testing).body).toEqual({
      ok: false,
      message: 'The dispatcher has not ended the test within 25 seconds.',
      response_status: null,
    })
  }, 60_000)

  it('is one of at most ten at a time in a workspace', async () => {
    const organization = await anOrganization(api)
    const send = sendAs(organization)
    await send('PUT', path(organization, '/tested'), oauth2)
    const tests = Promise.all(Array.from({ length: 11 }, () => send('POST', path(organization, '/tested/test'), {})))
    await pass(5_000, 10)
    const answers = await tests
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(10).fill(200), 429])
  })
})
