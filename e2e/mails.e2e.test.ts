import { freePort } from '@belfry/embedded'
import { type MailServer, queueBackends, startMailServer, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const password = 'correct horse battery'

// Both installations wait at the same time; the tests of each run in turn.
describe.concurrent.each(queueBackends())('mails and alerts, with the queue on %s', { timeout: 120_000 }, backend => {
  let belfry: Belfry
  let mailPort: number
  const servers: MailServer[] = []

  beforeEach(async () => {
    mailPort = await freePort()
    const env = { SMTP_URL: `smtp://127.0.0.1:${mailPort}`, MAIL_FROM: 'Belfry <belfry@example.com>' }
    belfry = await startBelfry(backend, { env })
  })
  afterEach(async () => {
    await belfry?.close()
    await Promise.all(servers.splice(0).map(server => server.close()))
  })

  const startMail = async (options: Parameters<typeof startMailServer>[0] = {}) => {
    const server = await startMailServer({ port: mailPort, ...options })
    servers.push(server)
    return server
  }
  const invite = (email: string, more: object = {}) => {
    const path = `/api/v1/organizations/${belfry.caller.organizationId}/invitations`
    return callApi(belfry.url, { token: belfry.caller.token ?? '' }, 'POST', path, { email, role: 'member', ...more })
  }
  const register = async (email: string): Promise<Caller> => {
    const body = { email, password, name: 'Ada' }
    return { token: (await callApi(belfry.url, {}, 'POST', '/api/v1/auth/register', body)).body.token }
  }
  const receive = (server: MailServer, count: number) =>
    waitFor(
      async () => server.mails,
      mails => mails.length >= count,
      60_000,
    )
  const linkOf = (text = '') => new URL(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+#[\w-]{43}/.exec(text)?.[0] ?? '')
  const makeDue = () => belfry.execute('UPDATE outbox SET due_at = now() WHERE finished_at IS NULL')

  it.sequential('an invitation arrives, and its link joins once with the right role and workspaces', async () => {
    const server = await startMail()
    const { workspaceId } = belfry.caller
    await invite('ada@example.com', { workspace_role: 'editor', workspace_ids: [workspaceId] })
    const [mail] = await receive(server, 1)
    expect(mail).toMatchObject({ to: ['ada@example.com'], subject: 'Join Acme on Belfry' })
    const link = linkOf(mail?.text)
    expect(link.origin).toBe(belfry.url)
    const token = link.hash.slice(1)
    const accept = (as: Caller) => callApi(belfry.url, as, 'POST', '/api/v1/invitations/accept', { token })
    const preview = await callApi(belfry.url, {}, 'POST', '/api/v1/invitations/preview', { token })
    expect(preview.body.role).toBe('member')
    const [ada, eve] = [await register('ada@example.com'), await register('eve@example.com')]
    expect((await accept(eve)).body.code).toBe('invitation_email_mismatch')
    const joined = await accept(ada)
    expect([joined.status, joined.body.role, joined.body.workspace_ids]).toEqual([200, 'member', [workspaceId]])
    expect((await accept(ada)).body.code).toBe('invitation_used')
    const body = { name: 'A task', url: 'https://example.com/', method: 'POST', execute_at: inMs(3_600_000) }
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${ada.token}` }
    const asEditor = await fetch(`${belfry.url}/api/v1/scheduler/tasks`, {
      method: 'POST',
      headers: { ...headers, 'X-Workspace-Id': workspaceId ?? '' },
      body: JSON.stringify(body),
    })
    expect(asEditor.status).toBe(201)
    for (const { output } of belfry.services) expect(output).not.toContain(token)
  })

  it.sequential('a forgotten password is replaced through the link of a mail', async () => {
    const server = await startMail()
    await register('ada@example.com')
    await callApi(belfry.url, {}, 'POST', '/api/v1/auth/password/forgot', { email: 'ada@example.com' })
    const mails = await receive(server, 2) // the other one confirms the address; either may come first
    const mail = mails.find(({ subject }) => subject === 'Choose a new password for Belfry')
    const token = linkOf(mail?.text).hash.slice(1)
    const reset = { token, password: 'another good password' }
    expect((await callApi(belfry.url, {}, 'POST', '/api/v1/auth/password/reset', reset)).status).toBe(204)
    const login = { email: 'ada@example.com', password: reset.password }
    expect((await callApi(belfry.url, {}, 'POST', '/api/v1/auth/login', login)).status).toBe(200)
  })

  it.sequential('a mail server that is down, killed dispatchers and a lost queue lose no mail', async () => {
    const emails = Array.from({ length: 10 }, (_, i) => `user${i}@example.com`)
    for (const email of emails.slice(0, 5)) expect((await invite(email)).status).toBe(201)
    const dispatcher = belfry.services.find(({ name }) => name === 'dispatcher')
    await waitFor(
      () => belfry.execute('SELECT FROM outbox WHERE last_error IS NOT NULL'),
      rows => rows.length === 5,
    )
    await dispatcher?.stop('SIGKILL')
    await belfry.stopRedis()
    for (const email of emails.slice(5)) expect((await invite(email)).status).toBe(201)
    const server = await startMail()
    await belfry.start('dispatcher')
    await makeDue()
    const mails = await receive(server, emails.length)
    expect(mails.map(({ to }) => to[0]).sort()).toEqual(emails)
    await waitFor(
      () => belfry.execute('SELECT FROM outbox WHERE NOT sent'),
      rows => rows.length === 0,
    )
  })

  it.sequential('a dispatcher that is killed before it has recorded a mail sends it again with the same id', async () => {
    const server = await startMail({ beforeAnswer: () => new Promise(() => {}) })
    await invite('ada@example.com')
    await receive(server, 1)
    await belfry.services.find(({ name }) => name === 'dispatcher')?.stop('SIGKILL')
    await server.close()
    const next = await startMail()
    await makeDue() // instead of waiting some minutes for the end of the lease
    await belfry.start('dispatcher')
    const [again] = await receive(next, 1)
    expect(again?.messageId).toMatch(/^<[\w-]+@example\.com>$/)
    expect(again?.messageId).toBe(server.mails[0]?.messageId)
  })

  it.sequential('the test of an integration reports whether it arrived; a dead task becomes an alert', async ({
    onTestFinished,
  }) => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/integrations`
    const integrate = async (url: string) => {
      const body = { name: 'On call', channel: 'webhook', url, events: ['task.dead'] }
      return (await belfry.call('POST', path, body)).body.id
    }
    receiver.answer('/broken', { status: 503 })
    const works = await integrate(receiver.url('/alerts'))
    const broken = await integrate(receiver.url('/broken'))
    const test = async (id: string) => (await belfry.call('POST', `${path}/${id}/test`)).body
    expect(await test(works)).toEqual({ delivered: true, error: null })
    expect(await test(broken)).toMatchObject({ delivered: false, error: 'The receiver answered 503.' })
    receiver.answer('/gone', { status: 410 })
    const task = { name: 'Nightly', url: receiver.url('/gone'), method: 'POST', execute_at: inMs(1_000) }
    const { body: created } = await belfry.call('POST', '/api/v1/scheduler/tasks', task)
    const alerts = () => receiver.requestsTo('/alerts').map(({ body }) => JSON.parse(body.toString()))
    const [, alert] = await waitFor(
      async () => alerts(),
      all => all.length >= 2,
      60_000,
    )
    expect(alert).toMatchObject({ type: 'task.dead', data: { count: 1, items: [{ id: created.id, name: 'Nightly' }] } })
  })
})
