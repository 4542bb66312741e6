import { type MailServer, queueBackends, startMailServer, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const password = 'correct horse battery'

describe.each(queueBackends().slice(0, propertyRuns(2, 1)))(
  'mails and alerts, with the queue on %s',
  { timeout: 120_000 },
  backend => {
    let belfry: Belfry
    let mailServer: MailServer
    beforeAll(async () => {
      mailServer = await startMailServer()
      const env = { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}`, MAIL_FROM: 'Belfry <belfry@example.com>' }
      belfry = await startBelfry(backend, { env })
    })
    afterAll(async () => {
      await belfry?.close()
      await mailServer?.close()
    })

    const invite = (email: string, more: object = {}) => {
      const path = `/api/v1/organizations/${belfry.caller.organizationId}/invitations`
      return callApi(belfry.url, { token: belfry.caller.token ?? '' }, 'POST', path, { email, role: 'member', ...more })
    }
    const register = async (email: string): Promise<Caller> => {
      const body = { email, password, name: 'Ada' }
      return { token: (await callApi(belfry.url, {}, 'POST', '/api/v1/auth/register', body)).body.token }
    }
    const receive = async (email: string, subject: string) => {
      const isWanted = (mail: MailServer['mails'][number]) => mail.to.includes(email) && mail.subject === subject
      const mails = await waitFor(
        async () => mailServer.mails.filter(isWanted),
        found => found.length > 0,
        60_000,
      )
      return mails[0]
    }
    const linkOf = (text = '') => new URL(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+#[\w-]{43}/.exec(text)?.[0] ?? '')

    it('an invitation arrives, and its link joins once with the right role and workspaces', async () => {
      const { workspaceId } = belfry.caller
      await invite('ada@example.com', { workspace_role: 'editor', workspace_ids: [workspaceId] })
      const mail = await receive('ada@example.com', 'Join Acme on Belfry')
      expect(mail?.to).toEqual(['ada@example.com'])
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

    it('a forgotten password is replaced through the link of a mail', async () => {
      const email = 'bob@example.com'
      await register(email)
      await callApi(belfry.url, {}, 'POST', '/api/v1/auth/password/forgot', { email })
      const mail = await receive(email, 'Choose a new password for Belfry')
      const token = linkOf(mail?.text).hash.slice(1)
      const reset = { token, password: 'another good password' }
      expect((await callApi(belfry.url, {}, 'POST', '/api/v1/auth/password/reset', reset)).status).toBe(204)
      const login = { email, password: reset.password }
      expect((await callApi(belfry.url, {}, 'POST', '/api/v1/auth/login', login)).status).toBe(200)
    })

    it('the test of an integration reports whether it arrived; a dead task becomes an alert', async ({
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
      expect(alert).toMatchObject({
        type: 'task.dead',
        data: { count: 1, items: [{ id: created.id, name: 'Nightly' }] },
      })
    })
  },
)
