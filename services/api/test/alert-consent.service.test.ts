import { openIntegration } from '@belfry/db/integrations/integrations'
import { hashAddress } from '@belfry/db/outbox/mail-blocks'
import { fromId } from '@belfry/domain/id'
import { unsubscribeToken } from '@belfry/vault'
import { describe, expect, it } from 'vitest'
import { anOperator, anOrganization, type TestOrganization } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { type Json, useApi } from './setup.ts'

const operator = 'root@operators.example'
const api = useApi({ CONFIRM_EMAILS: 'on', OPERATORS: operator })
const newEmail = () => `${crypto.randomUUID()}@example.com`
const call = (organization: TestOrganization, method: string, more = '', body?: unknown) => {
  const path = `/api/v1/workspaces/${organization.workspaceId}/integrations${more}`
  return api.send(method, path, body, organization.owner.session)
}
const integrate = (organization: TestOrganization, email: string) =>
  call(organization, 'POST', '', { name: 'https://evil.example', channel: 'email', email, events: ['task.dead'] })
const confirm = (token: string) => api.send('POST', '/api/v1/integrations/confirm', { token })
/** Returns the target as the dispatcher reads it before it sends; null when it may not send. */
const targetOf = async ({ workspaceId }: TestOrganization, id: string) => {
  const { pool, config } = api.ctx
  const ids = [fromId('ws', workspaceId) ?? '', fromId('int', id) ?? ''] as const
  return (await openIntegration(pool, config.masterKeys, ...ids))?.target ?? null
}

describe('an email address outside of the organization', () => {
  it('gets no alert and no test before its recipient has agreed, once', async () => {
    const [organization, email] = [await anOrganization(api), newEmail()]
    const { body } = await integrate(organization, email)
    expect(body.confirmed).toBe(false)
    expect(await targetOf(organization, body.id)).toBeNull()
    expect(await call(organization, 'POST', `/${body.id}/test`)).toMatchObject({ status: 409 })
    const [mail, ...others] = await mailsTo(api, email)
    expect(others).toEqual([])
    expect(mail?.text).not.toContain('evil')
    const token = await tokenFor(api, email)
    expect(mail?.text).toContain(`http://belfry.test/confirm-alerts#${token}\n`)
    expect(await confirm('x'.repeat(43))).toMatchObject({ status: 400 })
    expect(await confirm(token)).toMatchObject({ status: 204 })
    expect(await confirm(token)).toMatchObject({ status: 400 })
    expect((await call(organization, 'GET', `/${body.id}`)).body.confirmed).toBe(true)
    expect(await targetOf(organization, body.id)).toBe(email)
  })

  it('is asked again when it replaces another one', async () => {
    const [organization, first, second] = [await anOrganization(api), newEmail(), newEmail()]
    const { id } = (await integrate(organization, first)).body
    const old = await tokenFor(api, first)
    const changed = await call(organization, 'PATCH', `/${id}`, { email: second })
    expect(changed.body).toMatchObject({ target: second, confirmed: false })
    expect(await confirm(old)).toMatchObject({ status: 400 })
    expect(await confirm(await tokenFor(api, second))).toMatchObject({ status: 204 })
    const renamed = await call(organization, 'PATCH', `/${id}`, { name: 'Renamed' })
    expect(renamed.body.confirmed).toBe(true)
    expect(await targetOf(organization, id)).toBe(second)
  })

  it('is asked at most five times, by all workspaces together', async () => {
    const email = newEmail()
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) statuses.push((await integrate(await anOrganization(api), email)).status)
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429])
    expect(await mailsTo(api, email)).toHaveLength(5)
  })
})

it('the confirmed address of a member needs no question', async () => {
  const organization = await anOrganization(api)
  const { email, userId } = organization.owner
  expect((await integrate(organization, email)).body.confirmed).toBe(false)
  await api.ctx.prisma.user.update({ where: { id: userId }, data: { emailConfirmedAt: new Date() } })
  const { body } = await integrate(organization, email.toUpperCase().replace('EXAMPLE.COM', 'example.com'))
  expect(body.confirmed).toBe(true)
  expect(await mailsTo(api, email)).toHaveLength(1)
})

describe('a recipient who unsubscribes', () => {
  /** Unsubscribes as a mail program does (RFC 8058). */
  async function unsubscribe(email: string) {
    const token = unsubscribeToken(api.ctx.config.masterKeys, hashAddress(email))
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const path = `/api/v1/integrations/unsubscribe?token=${token}`
    return api.send('POST', path, 'List-Unsubscribe=One-Click', headers)
  }

  async function aMember(organization: TestOrganization) {
    const { email, userId } = organization.owner
    await api.ctx.prisma.user.update({ where: { id: userId }, data: { emailConfirmedAt: new Date() } })
    return email
  }

  it('gets no alert from any workspace before agreeing again, also as a member', async () => {
    const organization = await anOrganization(api)
    const email = await aMember(organization)
    const { id } = (await integrate(organization, email.toUpperCase().replace('EXAMPLE.COM', 'example.com'))).body
    expect(await targetOf(organization, id)).not.toBeNull()
    for (let i = 0; i < 2; i++) expect(await unsubscribe(email)).toMatchObject({ status: 204 })
    expect(await targetOf(organization, id)).toBeNull()
    expect((await call(organization, 'GET', `/${id}`)).body.confirmed).toBe(false)
    const other = await integrate(await anOrganization(api), email)
    expect(other.body.confirmed).toBe(false)
    const changed = await call(organization, 'PATCH', `/${id}`, { email })
    expect(changed.body.confirmed).toBe(false)
    expect(await confirm(await tokenFor(api, email))).toMatchObject({ status: 204 })
    expect(await targetOf(organization, id)).toBe(email)
    expect((await integrate(organization, email)).body.confirmed).toBe(true)
  })

  it('is asked at most twice in a week', async () => {
    const email = newEmail()
    await unsubscribe(email)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await integrate(await anOrganization(api), email)).status)
    expect(statuses).toEqual([201, 201, 429])
  })

  it('needs the token of a mail, and only sends it on purpose', async () => {
    const organization = await anOrganization(api)
    const email = await aMember(organization)
    const { id } = (await integrate(organization, email)).body
    const path = '/api/v1/integrations/unsubscribe'
    expect(await api.send('POST', `${path}?token=${'x'.repeat(64)}`)).toMatchObject({ status: 400 })
    const token = unsubscribeToken(api.ctx.config.masterKeys, hashAddress(email))
    expect(await api.send('GET', `${path}?token=${token}`)).toMatchObject({ status: 405 })
    expect(await targetOf(organization, id)).not.toBeNull()
  })
})

describe('an address that an operator has blocked', () => {
  const blocked = '/api/v1/operator/blocked-addresses'
  let session: Record<string, string> | undefined
  async function operate(method: string, path: string, body?: unknown) {
    if (!session) {
      const { session: own } = await anOperator(api, operator)
      session = own
    }
    return api.send(method, path, body, session)
  }

  it('gets no alerts and no invitations until it is unblocked, and the log has both', async () => {
    const [organization, email] = [await anOrganization(api), newEmail()]
    const { id } = (await integrate(organization, email)).body
    await confirm(await tokenFor(api, email))
    const reason = 'Complaint'
    for (let i = 0; i < 2; i++) {
      const sent = { email: email.toUpperCase().replace('EXAMPLE.COM', 'example.com'), reason }
      expect(await operate('POST', blocked, sent)).toMatchObject({ status: 204 })
    }
    const invite = () =>
      api.send(
        'POST',
        `/api/v1/organizations/${organization.id}/invitations`,
        { email, role: 'member' },
        organization.owner.session,
      )
    const answers = [
      await integrate(organization, email),
      await invite(),
      await call(organization, 'PATCH', `/${id}`, { email }),
    ]
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([409, 'conflict']))
    expect((await operate('GET', `${blocked}?search=${email.slice(0, 20)}`)).body.data).toMatchObject([{ email }])
    expect(await operate('POST', `${blocked}/remove`, { email })).toMatchObject({ status: 204 })
    expect(await operate('POST', `${blocked}/remove`, { email })).toMatchObject({ status: 404 })
    expect((await operate('GET', `${blocked}?search=${email}`)).body.data).toEqual([])
    expect(await invite()).toMatchObject({ status: 201 })
    const { data } = (await operate('GET', '/api/v1/operator/log')).body
    const entries = data.filter(({ object_id }: Json) => object_id === email)
    expect(entries.map(({ action, details }: Json) => [action, details])).toEqual([
      ['address.unblocked', {}],
      ['address.blocked', { reason }],
    ])
  })

  it('is listed, page by page', async () => {
    const emails = Array.from({ length: 3 }, newEmail)
    for (const email of emails) await operate('POST', blocked, { email })
    const first = (await operate('GET', `${blocked}?limit=2`)).body
    const second = (await operate('GET', `${blocked}?limit=2&cursor=${first.next_cursor}`)).body
    expect([...first.data, ...second.data].map(({ email }) => email)).toEqual(emails.reverse())
  })
})
