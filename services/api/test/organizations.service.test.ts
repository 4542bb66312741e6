import { describe, expect, it } from 'vitest'
import { anOrganization, aPerson } from './organization.ts'
import { useApi } from './setup.ts'

const api = useApi()
const organizations = '/api/v1/organizations'

describe('works', () => {
  it('lists the organizations of the user, page by page, and not those of others', async () => {
    const { session } = await aPerson(api)
    await anOrganization(api)
    for (const name of ['One', 'Two', 'Three']) await api.send('POST', organizations, { name }, session)
    const first = await api.send('GET', `${organizations}?limit=2`, undefined, session)
    expect(first.body.data.map(({ name }: { name: string }) => name)).toEqual(['Three', 'Two'])
    const rest = await api.send('GET', `${organizations}?limit=2&cursor=${first.body.next_cursor}`, undefined, session)
    expect(rest.body.data.map(({ name }: { name: string }) => name)).toEqual(['One'])
    expect(rest.body.next_cursor).toBeNull()
  })

  it('changes the name, the slug, and only those flags of the policy that are sent', async () => {
    const { id, owner } = await anOrganization(api)
    const change = (body: unknown) => api.send('PATCH', `${organizations}/${id}`, body, owner.session)
    expect((await change({ name: 'New', slug: 'new-slug' })).body).toMatchObject({ name: 'New', slug: 'new-slug' })
    await change({ policy: { members_can_invite: true } })
    const { status, body } = await change({ policy: { members_can_delete_tasks: true } })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      slug: 'new-slug',
      policy: { members_can_invite: true, members_can_delete_tasks: true },
    })
    expect(Object.values(body.policy).filter(Boolean)).toHaveLength(2)
    expect((await change({})).body).toMatchObject({ name: 'New', policy: body.policy })
  })

  it('shows an API key the name, the slug and the tier, and no more', async () => {
    const organization = await anOrganization(api)
    const { body } = await api.send(
      'GET',
      `${organizations}/${organization.id}`,
      undefined,
      await organization.apiKey(),
    )
    expect(Object.keys(body)).toEqual(['id', 'name', 'slug', 'tier'])
  })

  it('deletes an organization once its workspaces are gone, for all of its members, and frees its slug', async () => {
    const organization = await anOrganization(api)
    const member = await organization.add('member')
    const path = `${organizations}/${organization.id}`
    await api.send('PATCH', path, { slug: 'to-be-deleted' }, organization.owner.session)
    const remove = () => api.send('DELETE', path, undefined, organization.owner.session)
    expect(await remove()).toMatchObject({ status: 409, body: { code: 'conflict' } })
    const workspace = `/api/v1/workspaces/${organization.workspaceId}`
    expect((await api.send('DELETE', workspace, undefined, organization.owner.session)).status).toBe(204)
    expect((await remove()).status).toBe(204)
    for (const { session } of [organization.owner, member]) {
      expect((await api.send('GET', path, undefined, session)).status).toBe(404)
      expect((await api.send('GET', organizations, undefined, session)).body.data).toEqual([])
    }
    const another = await anOrganization(api)
    const body = { slug: 'to-be-deleted' }
    expect((await api.send('PATCH', `${organizations}/${another.id}`, body, another.owner.session)).status).toBe(200)
  })
})

describe('refuses', () => {
  it.each(['a', 'A-b', '-ab', 'ab-', 'a--b', 'a b', 'ä-b', 'x'.repeat(64), 1, null])('%j as a slug', async slug => {
    const { id, owner } = await anOrganization(api)
    const { status, body } = await api.send('PATCH', `${organizations}/${id}`, { slug }, owner.session)
    expect([status, body.errors[0].path]).toEqual([400, 'slug'])
  })

  it.each([
    { policy: { members_can_fly: true } },
    { policy: { members_can_invite: 1 } },
    { tier: 'unicorn' },
    { id: 'x' },
  ])('%j as a change', async change => {
    const { id, owner } = await anOrganization(api)
    expect((await api.send('PATCH', `${organizations}/${id}`, change, owner.session)).status).toBe(400)
  })

  it('a slug with another meaning in the dashboard’s paths', async () => {
    const { id, owner } = await anOrganization(api)
    const { status, body } = await api.send('PATCH', `${organizations}/${id}`, { slug: 'admin' }, owner.session)
    expect([status, body.code]).toEqual([409, 'slug_taken'])
    const made = await api.send('POST', organizations, { name: 'API' }, owner.session)
    expect(made.body.slug).toMatch(/^api-[0-9a-f]{6}$/)
  })

  it('a slug of another organization, to all but one of many concurrent requests', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => anOrganization(api)))
    const answers = await Promise.all(
      all.map(({ id, owner }) => api.send('PATCH', `${organizations}/${id}`, { slug: 'wanted' }, owner.session)),
    )
    const codes = answers.map(({ status, body }) => (status === 200 ? 200 : body.code))
    expect(codes.sort()).toEqual([200, ...Array(7).fill('slug_taken')])
  })
})
