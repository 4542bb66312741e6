import { describe, expect, it } from 'vitest'
import { anOrganization, type Person, type TestOrganization } from './organization.ts'
import { aTaskBody, useApi } from './setup.ts'

const api = useApi()
const get = (path: string, headers: Record<string, string>) => api.send('GET', path, undefined, headers)
const workspace = ({ workspaceId }: TestOrganization) => `/api/v1/workspaces/${workspaceId}`
const namesOf = (body: { data: Array<{ id: string }> }) => body.data.map(({ id }) => id).sort()

describe('works', () => {
  it('lists all workspaces to owners and admins, and to members their own', async () => {
    const organization = await anOrganization(api)
    const second = await organization.addWorkspace()
    const [admin, editor, outside] = [
      await organization.add('admin'),
      await organization.add('member', 'editor'),
      await organization.add('member'),
    ]
    const list = async ({ session }: Person) =>
      namesOf((await get(`/api/v1/organizations/${organization.id}/workspaces`, session)).body)
    expect(await list(organization.owner)).toEqual([organization.workspaceId, second].sort())
    expect(await list(admin)).toEqual([organization.workspaceId, second].sort())
    expect(await list(editor)).toEqual([organization.workspaceId])
    expect(await list(outside)).toEqual([])
  })

  it('reads and renames a workspace', async () => {
    const organization = await anOrganization(api)
    const renamed = await api.send('PATCH', workspace(organization), { name: 'New' }, organization.owner.session)
    expect(renamed).toMatchObject({ status: 200, body: { id: organization.workspaceId, name: 'New' } })
    expect((await get(workspace(organization), await organization.apiKey())).body).toEqual(renamed.body)
  })

  it('makes a member who creates a workspace its editor', async () => {
    const organization = await anOrganization(api)
    await organization.setPolicy({ membersCanCreateWorkspaces: true })
    const member = await organization.add('member')
    const path = `/api/v1/organizations/${organization.id}/workspaces`
    const { body } = await api.send('POST', path, { name: 'Mine' }, member.session)
    const inWorkspace = { ...member.session, 'X-Workspace-Id': body.id }
    expect((await api.send('POST', '/api/v1/scheduler/tasks', aTaskBody(), inWorkspace)).status).toBe(201)
  })

  it('adds a member as a viewer, makes the member an editor, and removes the member', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member')
    const path = `${workspace(organization)}/members/${member.id}`
    const put = (role: string) => api.send('PUT', path, { role }, organization.owner.session)
    const create = () =>
      api.send('POST', '/api/v1/scheduler/tasks', aTaskBody(), {
        ...member.session,
        'X-Workspace-Id': organization.workspaceId,
      })
    expect((await create()).status).toBe(404)
    expect(await put('viewer')).toMatchObject({ status: 200, body: { user: { id: member.id }, role: 'viewer' } })
    expect((await create()).status).toBe(403)
    await put('editor')
    expect((await create()).status).toBe(201)
    const { body } = await get(`${workspace(organization)}/members`, member.session)
    expect(body.data).toMatchObject([{ user: { email: member.email }, role: 'editor' }])
    expect((await api.send('DELETE', path, undefined, organization.owner.session)).status).toBe(204)
    expect((await create()).status).toBe(404)
    expect((await api.send('DELETE', path, undefined, organization.owner.session)).status).toBe(404)
  })

  it('hides a deleted workspace from all callers, and refuses its keys at once', async () => {
    const organization = await anOrganization(api)
    const key = await organization.apiKey()
    const editor = await organization.add('member', 'editor')
    expect((await get('/api/v1/scheduler/tasks', key)).status).toBe(200)
    expect((await api.send('DELETE', workspace(organization), undefined, organization.owner.session)).status).toBe(204)
    expect((await get('/api/v1/scheduler/tasks', key)).status).toBe(401)
    for (const { session } of [organization.owner, editor]) {
      expect((await get(workspace(organization), session)).status).toBe(404)
      const inWorkspace = { ...session, 'X-Workspace-Id': organization.workspaceId }
      expect((await get('/api/v1/scheduler/tasks', inWorkspace)).status).toBe(404)
      expect((await get(`/api/v1/organizations/${organization.id}/workspaces`, session)).body.data).toEqual([])
    }
    expect((await api.send('DELETE', workspace(organization), undefined, organization.owner.session)).status).toBe(404)
  })
})

describe('refuses', () => {
  it('a user in a workspace who is no member of its organization', async () => {
    const organization = await anOrganization(api)
    const stranger = (await anOrganization(api)).owner
    const path = `${workspace(organization)}/members/${stranger.id}`
    expect((await api.send('PUT', path, { role: 'viewer' }, organization.owner.session)).status).toBe(404)
    expect(await api.count('workspace_members')).toBe(
      await api.ctx.prisma.workspaceMember.count({ where: { userId: { not: stranger.userId } } }),
    )
  })

  it.each(['owner', 'admin', '', null])('%j as the role in a workspace', async role => {
    const organization = await anOrganization(api)
    const member = await organization.add('member')
    const path = `${workspace(organization)}/members/${member.id}`
    expect((await api.send('PUT', path, { role }, organization.owner.session)).status).toBe(400)
  })
})
