import { describe, expect, it } from 'vitest'
import { anOrganization, aPerson, type Person, password } from './organization.ts'
import { mailsTo } from './sent-mails.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()

const remove = ({ session }: Person, current_password = password) =>
  api.send('POST', '/api/v1/auth/me/delete', { current_password }, session)
const me = async ({ session }: Person) => (await api.send('GET', '/api/v1/auth/me', undefined, session)).status

describe('the deletion of an account', () => {
  it('leaves its organizations, ends its sessions, and keeps keys and the audit log', async () => {
    const organization = await anOrganization(api)
    const admin = await organization.add('admin', 'editor')
    const keys = `/api/v1/workspaces/${organization.workspaceId}/api-keys`
    const { key } = (await api.send('POST', keys, { name: 'CI' }, admin.session)).body
    const invitation = { email: 'guest@example.com', role: 'member' }
    const invitations = `/api/v1/organizations/${organization.id}/invitations`
    expect((await api.send('POST', invitations, invitation, admin.session)).status).toBe(201)
    const answer = await remove(admin)
    expect(answer.status).toBe(204)
    expect(answer.headers.get('set-cookie')).toMatch(/^belfry_session=; /)
    expect(await me(admin)).toBe(401)
    const { userId } = admin
    const rows = [
      await api.ctx.prisma.user.count({ where: { id: userId } }),
      await api.ctx.prisma.membership.count({ where: { userId } }),
      await api.ctx.prisma.workspaceMember.count({ where: { userId } }),
      await api.ctx.prisma.session.count({ where: { userId } }),
      await api.ctx.prisma.invitation.count({ where: { invitedBy: userId } }),
    ]
    expect(rows).toEqual([0, 0, 0, 0, 0])
    expect((await api.send('GET', '/api/v1/scheduler/tasks', undefined, { 'X-Api-Key': key })).status).toBe(200)
    const log = `/api/v1/organizations/${organization.id}/audit-log`
    const [left] = (await api.send('GET', log, undefined, organization.owner.session)).body.data
    expect(left).toMatchObject({
      action: 'member.left',
      object_id: admin.id,
      actor: { user_id: admin.id, email: null },
    })
    expect(left.details).toEqual({ role: 'admin', account: 'deleted' })
    expect((await mailsTo(api, admin.email)).map(({ subject }) => subject)).toEqual(['Your Belfry account was deleted'])
  })

  it('is refused to the last owner of organizations, which it names', async () => {
    const organization = await anOrganization(api)
    const { owner } = organization
    const another = await anOrganization(api)
    const organizationId = (
      await api.ctx.prisma.membership.findFirstOrThrow({ where: { userId: another.owner.userId } })
    ).organizationId
    await api.ctx.prisma.membership.create({ data: { organizationId, userId: owner.userId, role: 'owner' } })
    const refused = await remove(owner)
    expect([refused.status, refused.body.code]).toEqual([409, 'last_owner'])
    expect(refused.body.organizations).toEqual([{ id: organization.id, name: 'Acme' }])
    expect(await me(owner)).toBe(200)
    await organization.add('owner')
    expect((await remove(owner)).status).toBe(204)
  })

  it('of two owners at the same time leaves one', async () => {
    const organization = await anOrganization(api)
    const other = await organization.add('owner')
    const statuses = (await Promise.all([organization.owner, other].map(one => remove(one)))).map(
      ({ status }) => status,
    )
    expect(statuses.sort()).toEqual([204, 409])
  })

  it('needs the password, whose wrong attempts are limited', async () => {
    const person = await aPerson(api)
    const wrong = await remove(person, 'a wrong password')
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, 'current_password'])
    let last = wrong
    for (let i = 0; i < 15 && last.status === 400; i++) last = await remove(person, 'a wrong password')
    expect(last.status).toBe(429)
    expect(await me(person)).toBe(200)
  })
})

describe('the export of an account', () => {
  it('has everything about the user, and no secret', async () => {
    const organization = await anOrganization(api)
    const admin = await organization.add('admin', 'editor')
    const keys = `/api/v1/workspaces/${organization.workspaceId}/api-keys`
    const { key, id } = (await api.send('POST', keys, { name: 'CI' }, admin.session)).body
    const { status, body, headers, text } = await api.send('GET', '/api/v1/auth/me/export', undefined, admin.session)
    expect([status, headers.get('content-disposition')]).toEqual([200, 'attachment; filename="belfry-account.json"'])
    expect(body).toMatchObject({
      user: { id: admin.id, email: admin.email, email_confirmed_at: null },
      organizations: [{ id: organization.id, name: 'Acme', role: 'admin' }],
      workspaces: [{ id: organization.workspaceId, role: 'editor' }],
      sessions: [{ is_current: true }],
      api_keys: [{ id, name: 'CI', revoked_at: null }],
      invitations: [],
      security_log: [],
    })
    expect(text).not.toContain(key)
    expect(text).not.toMatch(/hash|token/)
    expect(text).not.toContain(organization.owner.email)
  })

  it('has at most 10,000 entries of the security log, the latest ones', async () => {
    const person = await aPerson(api)
    await api.db.query(
      `INSERT INTO account_log (id, user_id, action, address)
       SELECT uuid_v7(now() - i * interval '1 second'), $1, 'signed_in', i::text FROM generate_series(1, 10001) i`,
      [person.userId],
    )
    const { body } = await api.send('GET', '/api/v1/auth/me/export', undefined, person.session)
    const entries: Json[] = body.security_log
    expect([entries.length, entries[0].address, entries.at(-1).address]).toEqual([10_000, '1', '10000'])
  })
})

describe('the transfer of an organization', () => {
  const transfer = (id: string, user_id: string, { session }: Person) =>
    api.send('POST', `/api/v1/organizations/${id}/transfer`, { user_id }, session)

  it('makes a member the owner and the caller an admin, in one step', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member')
    const { status, body } = await transfer(organization.id, member.id, organization.owner)
    expect([status, body]).toMatchObject([200, { user: { id: member.id }, role: 'owner' }])
    const rows = await api.ctx.prisma.membership.findMany({
      where: { userId: { in: [organization.owner.userId, member.userId] } },
    })
    expect(new Map(rows.map(row => [row.userId, row.role]))).toEqual(
      new Map([
        [organization.owner.userId, 'admin'],
        [member.userId, 'owner'],
      ]),
    )
    const log = `/api/v1/organizations/${organization.id}/audit-log?action=member.role_changed`
    const { data } = (await api.send('GET', log, undefined, member.session)).body
    expect(data.map(({ details }: Json) => details)).toEqual([
      { from: 'member', to: 'owner', transfer: true },
      { from: 'owner', to: 'admin', transfer: true },
    ])
    expect((await transfer(organization.id, member.id, organization.owner)).status).toBe(403)
  })

  it('is refused to oneself, to strangers and by others', async () => {
    const organization = await anOrganization(api)
    const admin = await organization.add('admin')
    const { owner, id } = organization
    expect((await transfer(id, owner.id, owner)).status).toBe(400)
    expect((await transfer(id, (await aPerson(api)).id, owner)).status).toBe(404)
    expect((await transfer(id, admin.id, admin)).status).toBe(403)
    expect((await transfer(id, 'user_x', owner)).status).toBe(400)
  })

  it('of one organization to two members at the same time has one new owner', async () => {
    const organization = await anOrganization(api)
    const [one, other] = [await organization.add('admin'), await organization.add('admin')]
    const all = await Promise.all([one, other].map(({ id }) => transfer(organization.id, id, organization.owner)))
    expect(all.map(({ status }) => status).sort()).toEqual([200, 403])
  })
})
