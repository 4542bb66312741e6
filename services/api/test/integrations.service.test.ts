import { openIntegration } from '@belfry/db/integrations/integrations'
import { finishOutboxMessage, takeFromOutbox } from '@belfry/db/outbox/outbox'
import { fromId } from '@belfry/domain/id'
import { privateUrls, startReceiver } from '@belfry/test-support'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anOrganization, type TestOrganization } from './organization.ts'
import { useApi } from './setup.ts'

// A refused address takes one call each, more per second than a session may make. Takes the next message of the installation.
const api = useApi({ RATE_LIMITS: 'off' }, { isAlone: true })
const secretUrl = 'https://hooks.slack.com/services/T000/B000/a-secret-part'
const slack = { name: 'On call', channel: 'slack', url: secretUrl, events: ['task.dead', 'cronjob.failing'] }

const call = (organization: TestOrganization, method: string, more = '', body?: unknown) =>
  api.send(
    method,
    `/api/v1/workspaces/${organization.workspaceId}/integrations${more}`,
    body,
    organization.owner.session,
  )
const open = (organization: TestOrganization, id: string) => {
  const { pool, config } = api.ctx
  const workspaceId = fromId('ws', organization.workspaceId) ?? ''
  return openIntegration(pool, config.masterKeys, workspaceId, fromId('int', id) ?? '')
}

describe('works', () => {
  it('makes, shows, lists, changes and deletes an integration, and shows no more of its URL than the host', async () => {
    const organization = await anOrganization(api)
    const created = await call(organization, 'POST', '', slack)
    const { id } = created.body
    expect([created.status, created.headers.get('location')]).toEqual([
      201,
      `/api/v1/workspaces/${organization.workspaceId}/integrations/${id}`,
    ])
    const { url: _, ...shown } = slack
    expect(created.body).toMatchObject({ ...shown, target: 'hooks.slack.com' })
    expect((await call(organization, 'GET', `/${id}`)).body).toEqual(created.body)
    expect((await call(organization, 'GET')).body).toEqual({ data: [created.body], next_cursor: null })
    const changes = { name: 'Renamed', events: ['quota.reached', 'quota.reached'], url: 'https://example.com/x' }
    const changed = await call(organization, 'PATCH', `/${id}`, changes)
    expect(changed.body).toMatchObject({ name: 'Renamed', events: ['quota.reached'], target: 'example.com' })
    expect(await open(organization, id)).toEqual({ channel: 'slack', target: 'https://example.com/x' })
    expect((await call(organization, 'PATCH', `/${id}`, { name: 'Renamed again' })).body.events).toEqual([
      'quota.reached',
    ])
    expect((await call(organization, 'DELETE', `/${id}`)).status).toBe(204)
    expect((await call(organization, 'GET', `/${id}`)).status).toBe(404)
    expect((await call(organization, 'DELETE', `/${id}`)).status).toBe(404)
    const log = await api.send(
      'GET',
      `/api/v1/organizations/${organization.id}/audit-log`,
      undefined,
      organization.owner.session,
    )
    expect(log.body.data.map(({ action }: { action: string }) => action)).toEqual([
      'integration.deleted',
      'integration.changed',
      'integration.changed',
      'integration.created',
    ])
    expect(log.text).not.toContain('a-secret-part')
  })

  it('accepts an email address for the channel email, and an API key as the caller', async () => {
    const organization = await anOrganization(api)
    const path = `/api/v1/workspaces/${organization.workspaceId}/integrations`
    const body = { name: 'Mails', channel: 'email', email: 'ops@example.com', events: ['task.dead'] }
    const { status, body: created } = await api.send('POST', path, body, await organization.apiKey())
    expect([status, created.target]).toEqual([201, 'ops@example.com'])
  })

  it.each([
    [null, { delivered: true, error: null }],
    ['The receiver answered 404.', { delivered: false, error: 'The receiver answered 404.' }],
  ])('returns the outcome of a test: %j', async (error, expected) => {
    const organization = await anOrganization(api)
    const { id } = (await call(organization, 'POST', '', slack)).body
    const answer = call(organization, 'POST', `/${id}/test`)
    // Stands in for the dispatcher.
    let taken: Awaited<ReturnType<typeof takeFromOutbox>> = null
    const take = async () => (taken = await takeFromOutbox(api.db, 'webhook', 60_000))
    await expect.poll(take, { timeout: 10_000 }).toMatchObject({ label: 'integration test' })
    if (taken) await finishOutboxMessage(api.db, taken, error)
    expect((await answer).body).toEqual(expected)
  })
})

describe('refuses', () => {
  it.each([
    [{ ...slack, channel: 'pager' }, 'channel'],
    [{ ...slack, events: [] }, 'events'],
    [{ ...slack, events: ['task.alive'] }, 'events.0'],
    [{ ...slack, url: 'ftp://example.com/' }, 'url'],
    [{ ...slack, url: '{{ secrets.HOOK }}' }, 'url'],
    [{ ...slack, url: 'https://example.com/{{ secrets.HOOK }}' }, 'url'],
    [{ ...slack, name: '' }, 'name'],
    [{ name: 'x', channel: 'email', email: 'invalid', events: ['task.dead'] }, 'email'],
    [{ name: 'x', channel: 'email', url: secretUrl, events: ['task.dead'] }, 'email'],
  ])('%j', async (body, path) => {
    const organization = await anOrganization(api)
    const answer = await call(organization, 'POST', '', body)
    expect([answer.status, answer.body.errors.map((error: { path: string }) => error.path)]).toEqual([
      400,
      expect.arrayContaining([path]),
    ])
  })

  it('an address for an integration of another channel', async () => {
    const organization = await anOrganization(api)
    const { id } = (await call(organization, 'POST', '', slack)).body
    const { status, body } = await call(organization, 'PATCH', `/${id}`, { email: 'a@example.com' })
    expect([status, body.errors[0].path]).toEqual([400, 'email'])
  })

  it('each spelling of a private address, when it is made and when it is changed, and calls none', async () => {
    const organization = await anOrganization(api)
    const canary = await startReceiver()
    onTestFinished(() => canary.close())
    const { id } = (await call(organization, 'POST', '', slack)).body
    const accepted: string[] = []
    for (const url of privateUrls(canary.port)) {
      const answers = await Promise.all([
        ...['slack', 'discord', 'webhook'].map(channel => call(organization, 'POST', '', { ...slack, channel, url })),
        call(organization, 'PATCH', `/${id}`, { url }),
      ])
      const refused = answers.filter(({ status, body }) => status === 400 && body.errors?.[0].path === 'url')
      if (refused.length < answers.length) accepted.push(url)
    }
    expect(accepted).toEqual([])
    expect(canary.connections()).toBe(0)
  })

  it('more than twenty in one workspace, also concurrent ones', async () => {
    const organization = await anOrganization(api)
    const answers = await Promise.all(Array.from({ length: 24 }, () => call(organization, 'POST', '', slack)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
  })
})

describe('permits', () => {
  it('no caller to read a URL: it is in no column', async () => {
    const organization = await anOrganization(api)
    await call(organization, 'POST', '', slack)
    const { rows } = await api.db.query<{ text: string; bytes: Buffer }>(
      'SELECT i::text AS text, sealed_target AS bytes FROM integrations i',
    )
    for (const { text, bytes } of rows)
      expect([text.includes('secret-part'), bytes.includes('secret')]).toEqual([false, false])
  })
})
