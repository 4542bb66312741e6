import { describe, expect, it } from 'vitest'
import { anOrganization, type Person, type TestOrganization } from './organization.ts'
import { useApi } from './setup.ts'

const api = useApi()
const membersOf = ({ id }: TestOrganization) => `/api/v1/organizations/${id}/members`
const change = (organization: TestOrganization, by: Person, who: Person, role: string) =>
  api.send('PATCH', `${membersOf(organization)}/${who.id}`, { role }, by.session)
const remove = (organization: TestOrganization, by: Person, who: Person) =>
  api.send('DELETE', `${membersOf(organization)}/${who.id}`, undefined, by.session)

describe('works', () => {
  it('lists the members, and changes the role of one', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member')
    const changed = await change(organization, organization.owner, member, 'admin')
    expect(changed).toMatchObject({
      status: 200,
      body: { user: { id: member.id, email: member.email }, role: 'admin' },
    })
    const { body } = await api.send('GET', membersOf(organization), undefined, member.session)
    const found = body.data.map((one: { user: { id: string }; role: string }) => [one.user.id, one.role])
    expect(found.sort()).toEqual(
      [
        [organization.owner.id, 'owner'],
        [member.id, 'admin'],
      ].sort(),
    )
    expect(JSON.stringify(body)).not.toContain('password')
  })

  it('revokes the access of a removed member at once: to the organization and its workspaces, with the same session', async () => {
    const organization = await anOrganization(api)
    const editor = await organization.add('member', 'editor')
    const inWorkspace = { ...editor.session, 'X-Workspace-Id': organization.workspaceId }
    const tasks = () => api.send('GET', '/api/v1/scheduler/tasks', undefined, inWorkspace)
    expect((await tasks()).status).toBe(200)
    expect((await remove(organization, organization.owner, editor)).status).toBe(204)
    expect((await tasks()).status).toBe(404)
    expect((await api.send('GET', membersOf(organization), undefined, editor.session)).status).toBe(404)
    const rows = await api.ctx.prisma.workspaceMember.count({ where: { userId: editor.userId } })
    expect(rows).toBe(0)
  })

  it('lets every member leave while an owner stays', async () => {
    const organization = await anOrganization(api)
    const [member, second] = [await organization.add('member'), await organization.add('owner')]
    for (const person of [member, organization.owner]) {
      expect((await remove(organization, person, person)).status).toBe(204)
    }
    expect(await remove(organization, second, second)).toMatchObject({ status: 409, body: { code: 'last_owner' } })
  })
})

describe('refuses', () => {
  it('to leave an organization without an owner, under twenty concurrent attempts', async () => {
    const organization = await anOrganization(api)
    const owners = [
      organization.owner,
      ...(await Promise.all(Array.from({ length: 9 }, () => organization.add('owner')))),
    ]
    const attempts = owners.flatMap(owner => [
      change(organization, owner, owner, 'member'),
      remove(organization, owner, owner),
    ])
    const answers = await Promise.all(attempts)
    for (const { status, body } of answers) {
      expect([200, 204, 403, 404, 409]).toContain(status)
      if (status === 409) expect(body.code).toBe('last_owner')
    }
    const { rows } = await api.db.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM memberships m JOIN users u ON u.id = m.user_id
       WHERE role = 'owner' AND u.email = ANY ($1)`,
      [owners.map(({ email }) => email)],
    )
    expect(rows[0]?.n).toBe(1)
  })

  it('an admin who makes, demotes or removes an owner', async () => {
    const organization = await anOrganization(api)
    const [admin, owner, member] = [
      await organization.add('admin'),
      await organization.add('owner'),
      await organization.add('member'),
    ]
    const answers = [
      await change(organization, admin, admin, 'owner'),
      await change(organization, admin, member, 'owner'),
      await change(organization, admin, owner, 'member'),
      await remove(organization, admin, owner),
    ]
    for (const { status, body } of answers) expect([status, body.code]).toEqual([403, 'forbidden'])
    expect((await change(organization, admin, member, 'admin')).status).toBe(200)
    expect((await remove(organization, admin, member)).status).toBe(204)
  })

  it('a member who removes another, and a user who is no member', async () => {
    const organization = await anOrganization(api)
    const [member, other] = [await organization.add('member'), await organization.add('member')]
    const stranger = (await anOrganization(api)).owner
    expect((await remove(organization, member, other)).status).toBe(403)
    expect((await remove(organization, stranger, other)).status).toBe(404)
    expect((await remove(organization, organization.owner, stranger)).status).toBe(404)
    expect((await change(organization, organization.owner, stranger, 'member')).status).toBe(404)
  })
})
