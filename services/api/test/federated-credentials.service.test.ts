import { fromId, newUuid, toId } from '@belfry/domain/id'
import { describe, expect, it } from 'vitest'
import { aJobIssuer, anOrganizationThatTrusts, exchange } from './job-tokens.ts'
import { anOrganization, type TestOrganization } from './organization.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi()

const pathOf = ({ workspaceId }: TestOrganization) => `/api/v1/workspaces/${workspaceId}/federated-credentials`
const valid = {
  name: 'Deploy',
  issuer: 'https://token.actions.githubusercontent.com',
  conditions: { repository: 'acme/app', repository_owner: 'acme', ref: 'refs/heads/*' },
  scopes: ['publish'],
}
const create = (organization: TestOrganization, changes: Json = {}, session = organization.owner.session) =>
  api.send('POST', pathOf(organization), { ...valid, ...changes }, session)
const auditOf = async (organization: TestOrganization) => {
  const path = `/api/v1/organizations/${organization.id}/audit-log`
  return (await api.send('GET', path, undefined, organization.owner.session)).body.data as Json[]
}

it('is created, listed, read and deleted, with entries in the audit log', async () => {
  const organization = await anOrganization(api)
  const { owner, workspaceId } = organization
  const { status, headers, body } = await create(organization)
  expect([status, headers.get('location')]).toEqual([201, `${pathOf(organization)}/${body.id}`])
  expect(body).toEqual({
    ...valid,
    ...{ id: expect.stringMatching(/^fed_/), workspace_id: workspaceId, audience: 'http://belfry.test' },
    ...{ lifetime_ms: 900_000, created_by: owner.id, created_at: expect.any(String), last_used_at: null },
  })
  const send = (method: string, more = '') => api.send(method, pathOf(organization) + more, undefined, owner.session)
  expect((await send('GET')).body).toEqual({ data: [body], next_cursor: null })
  expect((await send('GET', `/${body.id}`)).body).toEqual(body)
  expect((await send('DELETE', `/${body.id}`)).status).toBe(204)
  expect((await send('GET', `/${body.id}`)).status).toBe(404)
  expect((await send('DELETE', `/${body.id}`)).status).toBe(404)
  const { name, issuer } = valid
  expect(await auditOf(organization)).toMatchObject([
    { action: 'federated_credential.deleted', object_id: body.id, details: { name, issuer, revoked_keys: 0 } },
    { action: 'federated_credential.created', object_id: body.id, details: { ...valid, lifetime_ms: 900_000 } },
  ])
})

describe('refuses', () => {
  it.each([
    ['http://token.example.com', 'issuer', 'invalid_issuer'],
    ['https://token.example.com/?a=b', 'issuer', 'invalid_issuer'],
    ['https://user@token.example.com', 'issuer', 'invalid_issuer'],
    ['https://token.example.com/#a', 'issuer', 'invalid_issuer'],
    ['token.example.com', 'issuer', 'invalid_issuer'],
    [`https://example.com/${'a'.repeat(500)}`, 'issuer', 'invalid_issuer'],
    ['https://127.0.0.1/', 'issuer', 'blocked_address'],
    ['https://[::1]:8443/a', 'issuer', 'blocked_address'],
    ['https://localhost', 'issuer', 'blocked_address'],
    ['https://169.254.169.254/', 'issuer', 'blocked_address'],
  ])('the issuer %s', async (issuer, path, code) => {
    const { status, body } = await create(await anOrganization(api), { issuer })
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ path, code })]])
  })

  it.each([
    { conditions: {} },
    { conditions: { ref: 'refs/heads/main' } },
    { conditions: { repository: 'acme*' } },
    { conditions: { repository: 'acme/app', ref: 7 } },
    { conditions: [] },
    { conditions: undefined },
    { scopes: undefined },
    { scopes: [] },
    { scopes: ['federated_credential.create'] },
    { lifetime_ms: 59_999 },
    { lifetime_ms: 3_600_001 },
    { audience: '' },
    { key: 'another member' },
  ])('%j', async changes => {
    expect((await create(await anOrganization(api), changes)).status).toBe(400)
  })

  it('accepts the limits of a lifetime', async () => {
    const organization = await anOrganization(api)
    for (const lifetime_ms of [60_000, 3_600_000]) {
      expect((await create(organization, { lifetime_ms })).body.lifetime_ms).toBe(lifetime_ms)
    }
  })

  it('members, also those who may create API keys, and API keys', async () => {
    const organization = await anOrganization(api)
    await organization.setPolicy({ membersCanCreateApiKeys: true })
    const editor = await organization.add('member', 'editor')
    expect((await create(organization, {}, editor.session)).status).toBe(403)
    const key = await organization.apiKey()
    expect((await api.send('POST', pathOf(organization), valid, key)).status).toBe(403)
    const admin = await organization.add('admin')
    expect((await create(organization, {}, admin.session)).status).toBe(201)
  })

  it('more than read and publish without a confirmed identity', async () => {
    const organization = await anOrganization(api)
    await api.db.query(`UPDATE sessions SET created_at = now() - interval '11 minutes' WHERE user_id = $1`, [
      organization.owner.userId,
    ])
    const refused = await create(organization, { scopes: ['full'] })
    expect([refused.status, refused.body.code]).toEqual([403, 'step_up_required'])
    expect((await create(organization)).status).toBe(201)
  })

  it('one more than twenty', async () => {
    const organization = await anOrganization(api)
    const one = fromId('fed', (await create(organization)).body.id)
    await api.db.query(
      `INSERT INTO federated_credentials (id, workspace_id, name, issuer, audience, conditions, scopes, lifetime_ms, created_by)
       SELECT gen_random_uuid(), workspace_id, name, issuer, audience, conditions, scopes, lifetime_ms, created_by
       FROM federated_credentials, generate_series(1, 18) WHERE id = $1`,
      [one],
    )
    const both = await Promise.all([create(organization), create(organization)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})

it('is not found in another workspace', async () => {
  const [own, other] = [await anOrganization(api), await anOrganization(api)]
  const { id } = (await create(own)).body
  for (const method of ['GET', 'DELETE']) {
    expect((await api.send(method, `${pathOf(other)}/${id}`, undefined, other.owner.session)).status).toBe(404)
  }
  expect((await api.send('GET', pathOf(other), undefined, other.owner.session)).body.data).toEqual([])
})

it('takes the keys of its jobs and their MCP subscriptions with it, and no others', async () => {
  const issuer = await aJobIssuer()
  const { organization, credential } = await anOrganizationThatTrusts(api, issuer, { scopes: ['read'] })
  const { key: ofJob, id: jobKey } = (await exchange(api, credential, await issuer.sign())).body
  const ofUser = (await organization.apiKey())['X-Api-Key']
  const tasks = async (key: string) =>
    (await api.send('GET', '/api/v1/scheduler/tasks', undefined, { 'X-Api-Key': key })).status
  expect([await tasks(ofJob), await tasks(ofUser)]).toEqual([200, 200])
  const workspace = fromId('ws', organization.workspaceId)
  for (const creator of [jobKey, 'key_of_another'])
    await api.db.query(
      `INSERT INTO subscriptions (id, workspace_id, topic, active, url, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, created_by, mcp)
       VALUES (gen_random_uuid(), $1, '@task.dead', true, 'https://x.example.com/', 0, 'fixed', 1, 1, 1, $2, '{}')`,
      [workspace, creator],
    )
  const path = `${pathOf(organization)}/${credential.id}`
  expect((await api.send('DELETE', path, undefined, organization.owner.session)).status).toBe(204)
  expect([await tasks(ofJob), await tasks(ofUser)]).toEqual([401, 200])
  const left = 'SELECT created_by FROM subscriptions WHERE workspace_id = $1'
  expect((await api.db.query(left, [workspace])).rows).toEqual([{ created_by: 'key_of_another' }])
  expect((await exchange(api, credential, await issuer.sign())).status).toBe(401)
  expect((await auditOf(organization))[0]?.details).toMatchObject({ revoked_keys: 1 })
  expect((await exchange(api, { id: toId('fed', newUuid()) }, await issuer.sign())).status).toBe(401)
})
