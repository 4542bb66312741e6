import { fromId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { anOrganization, aPerson, type Person, type TestOrganization } from './organization.ts'
import { mailsTo, tokenFor } from './sent-mails.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()
const newEmail = () => `${crypto.randomUUID()}@example.com`
const account = { name: 'Grace', password: 'correct horse battery' }

const invite = (organization: TestOrganization, by: Person, body: object) =>
  api.send('POST', `/api/v1/organizations/${organization.id}/invitations`, body, by.session)
const list = async (organization: TestOrganization) =>
  (await api.send('GET', `/api/v1/organizations/${organization.id}/invitations`, undefined, organization.owner.session))
    .body.data
const on = (organization: TestOrganization, by: Person, method: string, id: string, more = '') =>
  api.send(method, `/api/v1/organizations/${organization.id}/invitations/${id}${more}`, undefined, by.session)
const preview = (token: string) => api.send('POST', '/api/v1/invitations/preview', { token })
const accept = (token: string, body: object = {}, as?: Person) =>
  api.send('POST', '/api/v1/invitations/accept', { token, ...body }, as?.session)

/** Makes a user with an account, and an open invitation to the user. */
async function invited(changes: object = {}) {
  const organization = await anOrganization(api)
  const person = await aPerson(api)
  const body = { email: person.email, role: 'member', ...changes }
  const { body: invitation } = await invite(organization, organization.owner, body)
  return { organization, person, invitation, token: await tokenFor(api, person.email) }
}

const roleOf = async ({ userId }: Person, { id }: TestOrganization) => {
  const me = await api.ctx.prisma.membership.findMany({ where: { userId }, include: { organization: true } })
  return me.length === 1 ? `${me[0]?.role} ${id.length > 0}` : null
}

describe('works', () => {
  it('a mail with a link adds the signed-in user with the role and the workspaces of the invitation', async () => {
    const organization = await anOrganization(api)
    const [person, workspace] = [await aPerson(api), await organization.addWorkspace()]
    const email = person.email.toUpperCase().replace('@EXAMPLE.COM', '@example.com')
    const body = { email, role: 'member', workspace_role: 'editor', workspace_ids: [workspace] }
    const created = await invite(organization, organization.owner, body)
    expect([created.status, created.headers.get('location')]).toEqual([
      201,
      `/api/v1/organizations/${organization.id}/invitations/${created.body.id}`,
    ])
    expect(created.body).toMatchObject({ ...body, email: person.email, status: 'pending' })
    expect(created.text).not.toContain(await tokenFor(api, person.email))

    const [mail, ...others] = await mailsTo(api, person.email)
    expect([mail?.subject, others]).toEqual(['Join Acme on Belfry', []])
    const token = await tokenFor(api, person.email)
    expect(mail?.text).toContain(`http://belfry.test/invitations#${token}\n`)
    expect((await preview(token)).body).toMatchObject({
      organization: { name: 'Acme' },
      ...{ email: person.email, role: 'member', workspaces: [{ name: 'Main' }], has_account: true },
    })

    const accepted = await accept(token, {}, person)
    expect([accepted.status, accepted.body]).toMatchObject([
      200,
      { organization: { id: organization.id }, role: 'member', workspace_ids: [workspace], session: null },
    ])
    const members = `/api/v1/workspaces/${workspace}/members`
    const { body: page } = await api.send('GET', members, undefined, organization.owner.session)
    expect(page.data).toMatchObject([{ user: { email: person.email }, role: 'editor' }])
    const own = await api.send('GET', `/api/v1/organizations/${organization.id}/workspaces`, undefined, person.session)
    expect(own.body.data.map((one: { id: string }) => one.id)).toEqual([workspace])
    expect((await list(organization))[0]).toMatchObject({ id: created.body.id, status: 'accepted' })
  })

  it('the workspace role of the invitation is the default for workspaces joined later', async () => {
    const { organization, person, token } = await invited({ workspace_role: 'editor' })
    await accept(token, {}, person)
    const { session } = organization.owner
    const members = await api.send('GET', `/api/v1/organizations/${organization.id}/members`, undefined, session)
    const roles = members.body.data.map((one: Json) => [one.user.email, one.workspace_role])
    expect(Object.fromEntries(roles)).toMatchObject({ [person.email]: 'editor' })
    const path = `/api/v1/workspaces/${await organization.addWorkspace()}/members/${person.id}`
    expect((await api.send('PUT', path, {}, session)).body).toMatchObject({ role: 'editor' })
    expect((await api.send('PUT', path, { role: 'viewer' }, session)).body).toMatchObject({ role: 'viewer' })
    expect((await api.send('PUT', path, {}, session)).body).toMatchObject({ role: 'viewer' })
  })

  it('a user without an account creates one in the same step, and is signed in', async () => {
    const organization = await anOrganization(api)
    const email = newEmail()
    await invite(organization, organization.owner, { email, role: 'admin' })
    const token = await tokenFor(api, email)
    expect((await preview(token)).body.has_account).toBe(false)
    const { status, body, headers } = await accept(token, account)
    expect([status, body.role, body.session.user.email]).toEqual([200, 'admin', email])
    expect(headers.get('set-cookie')).toMatch(/^belfry_session=.*HttpOnly/)
    const session = { Authorization: `Bearer ${body.session.token}` }
    const me = await api.send('GET', '/api/v1/auth/me', undefined, session)
    expect(me.body.organizations).toMatchObject([{ id: organization.id, role: 'admin' }])
  })

  it('a second mail has a new link and ends the old one', async () => {
    const { organization, person, invitation, token } = await invited()
    const again = await on(organization, organization.owner, 'POST', invitation.id, '/resend')
    expect([again.status, again.body.status]).toEqual([200, 'pending'])
    const newToken = await tokenFor(api, person.email)
    expect(newToken).not.toBe(token)
    expect((await accept(token, {}, person)).status).toBe(404)
    expect((await accept(newToken, {}, person)).status).toBe(200)
  })

  it('a second mail renews an expired invitation', async () => {
    const { organization, person, invitation } = await invited()
    await expire(person.email)
    expect((await list(organization))[0].status).toBe('expired')
    await on(organization, organization.owner, 'POST', invitation.id, '/resend')
    expect((await accept(await tokenFor(api, person.email), {}, person)).status).toBe(200)
  })

  it('an address whose invitation was revoked or has expired can be invited again', async () => {
    const { organization, person, invitation } = await invited()
    const body = { email: person.email, role: 'member' }
    expect((await on(organization, organization.owner, 'DELETE', invitation.id)).status).toBe(204)
    expect((await invite(organization, organization.owner, body)).status).toBe(201)
    await expire(person.email)
    expect((await invite(organization, organization.owner, body)).status).toBe(201)
    expect((await accept(await tokenFor(api, person.email), {}, person)).status).toBe(200)
  })

  it('is recorded when sent, resent, revoked and accepted', async () => {
    const { organization, person, invitation } = await invited()
    await on(organization, organization.owner, 'POST', invitation.id, '/resend')
    await accept(await tokenFor(api, person.email), {}, person)
    const log = await api.send(
      'GET',
      `/api/v1/organizations/${organization.id}/audit-log`,
      undefined,
      organization.owner.session,
    )
    expect(
      log.body.data.map((entry: { action: string; actor: { email: string } }) => [entry.action, entry.actor.email]),
    ).toEqual([
      ['member.joined', person.email],
      ['invitation.resent', organization.owner.email],
      ['invitation.created', organization.owner.email],
    ])
    expect(log.text).not.toContain(await tokenFor(api, person.email))
  })
})

describe('refuses', () => {
  it('a second use, also of ten concurrent ones', async () => {
    const { organization, person, token } = await invited()
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token, {}, person)))
    expect(answers.map(({ status, body }) => body.code ?? status).sort()).toEqual([
      200,
      ...Array(9).fill('invitation_used'),
    ])
    expect(await roleOf(person, organization)).toBe('member true')
    const late = await accept(token, {}, person)
    expect([late.status, late.body.code]).toEqual([409, 'invitation_used'])
    expect((await preview(token)).body.code).toBe('invitation_used')
  })

  it('expired and revoked invitations, and an unknown token', async () => {
    const [one, two] = [await invited(), await invited()]
    await expire(one.person.email)
    await on(two.organization, two.organization.owner, 'DELETE', two.invitation.id)
    for (const [{ token, person }, code] of [
      [one, 'invitation_expired'],
      [two, 'invitation_revoked'],
    ] as const) {
      const answers = [await preview(token), await accept(token, {}, person), await accept(token, account)]
      for (const { status, body } of answers) expect([status, body.code]).toEqual([409, code])
    }
    for (const token of ['x', 'x'.repeat(43), one.invitation.id]) {
      expect((await accept(token, {}, one.person)).status).toBe(404)
    }
  })

  it('another user than the invited one, and a request without a user', async () => {
    const { organization, person, token } = await invited()
    const stranger = await aPerson(api)
    const mismatch = await accept(token, {}, stranger)
    expect([mismatch.status, mismatch.body.code]).toEqual([403, 'invitation_email_mismatch'])
    expect((await accept(token, {})).status).toBe(401)
    expect((await accept(token, account)).body.code).toBe('email_taken')
    expect((await accept(token, { name: 'Grace' })).body.errors[0].path).toBe('password')
    expect((await accept(token, {}, person)).status).toBe(200)
    expect(await roleOf(person, organization)).toBe('member true')
  })

  it('a role that the inviter may no longer grant', async () => {
    const organization = await anOrganization(api)
    const admin = await organization.add('admin')
    const people = [await aPerson(api), await aPerson(api)] as const
    await invite(organization, admin, { email: people[0].email, role: 'admin' })
    await invite(organization, admin, { email: people[1].email, role: 'member' })
    const setRole = (role: 'member' | 'admin') =>
      api.ctx.prisma.membership.updateMany({ where: { userId: admin.userId }, data: { role } })
    await setRole('member')
    for (const person of people) {
      const { status, body } = await accept(await tokenFor(api, person.email), {}, person)
      expect([status, body.code]).toEqual([409, 'invitation_revoked'])
    }
    await organization.setPolicy({ membersCanInvite: true })
    expect((await accept(await tokenFor(api, people[0].email), {}, people[0])).body.code).toBe('invitation_revoked')
    expect((await accept(await tokenFor(api, people[1].email), {}, people[1])).status).toBe(200)
    await setRole('admin')
    expect((await accept(await tokenFor(api, people[0].email), {}, people[0])).status).toBe(200)
  })

  it('an invitation whose inviter has left', async () => {
    const organization = await anOrganization(api)
    const [admin, person] = [await organization.add('admin'), await aPerson(api)]
    await invite(organization, admin, { email: person.email, role: 'member' })
    await api.ctx.prisma.membership.deleteMany({ where: { userId: admin.userId } })
    const { body } = await accept(await tokenFor(api, person.email), {}, person)
    expect(body.code).toBe('invitation_revoked')
  })

  it('a second mail to a member', async () => {
    const { organization, person, invitation } = await invited()
    await api.db.query(`INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, 'member')`, [
      fromId('org', organization.id),
      person.userId,
    ])
    const again = await on(organization, organization.owner, 'POST', invitation.id, '/resend')
    expect([again.status, again.body.code]).toEqual([409, 'already_member'])
  })

  it('invitations by members, except with the flag and to their own role', async () => {
    const organization = await anOrganization(api)
    const [member, workspace] = [await organization.add('member', 'viewer'), await organization.addWorkspace()]
    const body = () => ({ email: newEmail(), role: 'member' })
    expect((await invite(organization, member, body())).status).toBe(403)
    await organization.setPolicy({ membersCanInvite: true })
    for (const role of ['admin', 'owner']) {
      expect((await invite(organization, member, { ...body(), role })).status).toBe(403)
    }
    const elsewhere = await invite(organization, member, { ...body(), workspace_ids: [workspace] })
    expect([elsewhere.status, elsewhere.body.errors?.[0].path]).toEqual([400, 'workspace_ids'])
    const here = await invite(organization, member, { ...body(), workspace_ids: [organization.workspaceId] })
    expect(here.status).toBe(201)
    const admin = await invite(organization, organization.owner, { ...body(), role: 'admin' })
    expect((await on(organization, member, 'DELETE', admin.body.id)).status).toBe(403)
    expect((await on(organization, member, 'POST', admin.body.id, '/resend')).status).toBe(403)
    const owner = await invite(organization, await organization.add('admin'), { ...body(), role: 'owner' })
    expect(owner.status).toBe(403)
  })

  it('a workspace role above that of the inviter: when sent, when resent and when accepted', async () => {
    const organization = await anOrganization(api)
    const viewer = await organization.add('member', 'viewer')
    await organization.setPolicy({ membersCanInvite: true })
    const body = () => ({ email: newEmail(), role: 'member', workspace_role: 'editor' })
    for (const workspace_ids of [[], [organization.workspaceId]]) {
      const refused = await invite(organization, viewer, { ...body(), workspace_ids })
      expect([refused.status, refused.body.code]).toEqual([403, 'forbidden'])
    }
    const here = { workspace_ids: [organization.workspaceId] }
    const byOwner = await invite(organization, organization.owner, { ...body(), ...here })
    expect((await on(organization, viewer, 'POST', byOwner.body.id, '/resend')).status).toBe(403)

    const setRole = (role: 'viewer' | 'editor') =>
      api.ctx.prisma.workspaceMember.updateMany({ where: { userId: viewer.userId }, data: { role } })
    await setRole('editor')
    const person = await aPerson(api)
    expect(await invite(organization, viewer, { ...body(), ...here, email: person.email })).toMatchObject({
      status: 201,
    })
    await setRole('viewer')
    expect((await accept(await tokenFor(api, person.email), {}, person)).status).toBe(200)
    const roles = await api.ctx.prisma.workspaceMember.findMany({ where: { userId: person.userId } })
    const membership = await api.ctx.prisma.membership.findFirst({ where: { userId: person.userId } })
    expect([roles.map(({ role }) => role), membership?.workspaceRole]).toEqual([['viewer'], 'viewer'])
  })

  it('a second mail by a member who is not in each of the workspaces', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member', 'editor')
    await organization.setPolicy({ membersCanInvite: true })
    const other = await organization.addWorkspace()
    for (const workspace_ids of [[other], [organization.workspaceId, other]]) {
      const body = { email: newEmail(), role: 'member', workspace_ids }
      const { id } = (await invite(organization, organization.owner, body)).body
      expect((await on(organization, member, 'POST', id, '/resend')).status).toBe(403)
    }
    await api.db.query('UPDATE workspaces SET deleted_at = now() WHERE id = $1', [fromId('ws', other)])
    const [{ id, invited_by }] = await list(organization)
    expect(invited_by.id).toBe(organization.owner.id)
    expect((await on(organization, member, 'POST', id, '/resend')).status).toBe(200)
  })

  it('a workspace of another organization, a member, and an address with an open invitation', async () => {
    const { organization, person } = await invited()
    const foreign = (await anOrganization(api)).workspaceId
    const to = (email: string, more = {}) =>
      invite(organization, organization.owner, { email, role: 'member', ...more })
    expect((await to(newEmail(), { workspace_ids: [foreign] })).status).toBe(400)
    expect((await to(person.email)).body.code).toBe('already_invited')
    expect((await to(organization.owner.email)).body.code).toBe('already_member')
  })

  it.each([
    '',
    'invalid',
    'a@b',
    'a@example.com, b@example.com',
    'A <a@example.com>',
    '"a b"@example.com',
    'a@example.com\r\nBcc: b@example.com',
  ])('the address %j', async email => {
    const organization = await anOrganization(api)
    const { status, body } = await invite(organization, organization.owner, { email, role: 'member' })
    expect([status, body.errors[0].path]).toEqual([400, 'email'])
  })

  it('more than a few mails to one address from all senders, with a time to retry', async () => {
    const email = newEmail()
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) {
      const organization = await anOrganization(api)
      const { status, headers } = await invite(organization, organization.owner, { email, role: 'member' })
      statuses.push(status)
      if (status === 429) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 429])
    expect(await mailsTo(api, email)).toHaveLength(5)
  })
})

describe('permits', () => {
  it('no caller to learn a token: it is in no response and in no table', async () => {
    const { token, organization } = await invited()
    expect(JSON.stringify(await list(organization))).not.toContain(token)
    const { rows } = await api.db.query(
      `SELECT i::text AS text, NULL::bytea AS bytes FROM invitations i
       UNION ALL SELECT o::text, content FROM outbox o WHERE content IS NOT NULL`,
    )
    expect(rows.some(row => row.bytes !== null)).toBe(true)
    for (const { text, bytes } of rows) {
      expect(text).not.toContain(token)
      expect(bytes?.includes(token) ?? false).toBe(false)
    }
  })

  it('only links of the configured address, independent of the Host header', async () => {
    const organization = await anOrganization(api)
    const email = newEmail()
    const headers = {
      ...organization.owner.session,
      'X-Forwarded-Host': 'evil.example',
      Forwarded: 'host=evil.example',
    }
    await api.send('POST', `/api/v1/organizations/${organization.id}/invitations`, { email, role: 'member' }, headers)
    const [mail] = await mailsTo(api, email)
    expect(mail?.text).toContain('http://belfry.test/invitations#')
    expect(mail?.text).not.toContain('evil')
  })
})

async function expire(email: string): Promise<void> {
  await api.db.query(`UPDATE invitations SET expires_at = now() - interval '1 second' WHERE email = $1`, [email])
}
