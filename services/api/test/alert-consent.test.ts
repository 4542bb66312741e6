import { openIntegration } from '@belfry/db'
import { fromId } from '@belfry/domain'
import { describe, expect, it } from 'vitest'
import { anOrganization, type TestOrganization } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

const api = useApi(() => ({ CONFIRM_EMAILS: 'on' }))
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

describe('an e-mail address outside of the organization', () => {
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
