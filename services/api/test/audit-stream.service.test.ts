import { fromId } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { anOrganization, type Person, type TestOrganization } from './organization.ts'
import { useApi } from './setup.ts'

const api = useApi()

const pathOf = ({ id }: TestOrganization) => `/api/v1/organizations/${id}/audit-stream`
const put = (organization: TestOrganization, { session }: Person, url: string) =>
  api.send('PUT', pathOf(organization), { url }, session)
const get = async (organization: TestOrganization, { session }: Person) =>
  (await api.send('GET', pathOf(organization), undefined, session)).body

/** Stores that a message has the first two entries of a stream. */
const storeMessage = (organization: TestOrganization, messageId: string) =>
  api.db.query('UPDATE audit_streams SET message_id = $1, message_entries = 2 WHERE organization_id = $2', [
    messageId,
    fromId('org', organization.id),
  ])

it('starts, changes and ends the stream of an organization, and records each', async () => {
  const organization = await anOrganization(api)
  const { id, owner } = organization
  const none = { target: null, signing_secrets: [], waiting: 0, last_error: null, updated_at: null }
  expect(await get(organization, owner)).toEqual(none)
  const started = await put(organization, owner, 'https://logs.example.com/secret-path')
  expect(started).toMatchObject({ status: 200, body: { target: 'logs.example.com', last_error: null } })
  expect(started.text).not.toContain('secret-path')
  const [{ secret }] = started.body.signing_secrets
  expect(secret).toMatch(/^whsec_/)

  const changed = await put(organization, owner, 'https://siem.example.com/')
  expect(changed.body).toMatchObject({ target: 'siem.example.com', signing_secrets: [{ secret, expires_at: null }] })
  const rotated = await api.send('POST', `${pathOf(organization)}/rotate`, undefined, owner.session)
  expect(rotated.body.signing_secrets).toMatchObject([{ expires_at: null }, { secret, expires_at: expect.any(String) }])
  const again = await api.send('POST', `${pathOf(organization)}/rotate`, undefined, owner.session)
  const values = again.body.signing_secrets.map((one: { secret: string }) => one.secret)
  expect(values).toEqual([expect.any(String), rotated.body.signing_secrets[0].secret])
  await storeMessage(organization, crypto.randomUUID())
  expect((await get(organization, owner)).waiting).toBe(4) // created, changed and rotated twice

  for (let i = 0; i < 2; i++) {
    expect((await api.send('DELETE', pathOf(organization), undefined, owner.session)).status).toBe(204)
  }
  expect(await get(organization, owner)).toEqual(none)
  expect((await api.send('POST', `${pathOf(organization)}/rotate`, undefined, owner.session)).status).toBe(404)
  const left = await api.db.query('SELECT FROM audit_stream_entries WHERE organization_id = $1', [fromId('org', id)])
  expect(left.rowCount).toBe(0)
  const log = await api.send('GET', `/api/v1/organizations/${id}/audit-log`, undefined, owner.session)
  expect(log.text).not.toMatch(/whsec_|secret-path/)
  const entries = log.body.data.map((entry: Record<string, unknown>) => [entry.action, entry.object_id, entry.details])
  expect(entries.reverse()).toEqual([
    ['audit_stream.created', id, { target: 'logs.example.com' }],
    ['audit_stream.changed', id, { target: 'siem.example.com' }],
    ['audit_stream.secret_rotated', id, {}],
    ['audit_stream.secret_rotated', id, {}],
    ['audit_stream.deleted', id, { target: 'siem.example.com' }],
  ])
})

it('shows the error of a message that the receiver did not take, and its entries as waiting', async () => {
  const organization = await anOrganization(api)
  const { owner } = organization
  await put(organization, owner, 'https://logs.example.com/')
  const { rows } = await api.db.query<{ id: string }>(
    `INSERT INTO outbox (id, kind, label, attempts, last_error, expires_at)
     VALUES (gen_random_uuid(), 'webhook', 'audit log', 1, 'The receiver answered 503.', now() + interval '1 day') RETURNING id`,
  )
  const messageId = rows[0]?.id ?? ''
  await storeMessage(organization, messageId)
  expect(await get(organization, owner)).toMatchObject({ waiting: 3, last_error: 'The receiver answered 503.' })
  await api.db.query('UPDATE outbox SET sent = true, finished_at = now() WHERE id = $1', [messageId])
  expect(await get(organization, owner)).toMatchObject({ waiting: 1, last_error: null })
})

it('belongs to owners, who confirm that it is them', async () => {
  const organization = await anOrganization(api)
  const admin = await organization.add('admin')
  const other = await anOrganization(api)
  expect((await put(organization, admin, 'https://logs.example.com/')).status).toBe(403)
  expect((await put(organization, other.owner, 'https://logs.example.com/')).status).toBe(404)
  await api.db.query(
    `UPDATE sessions SET created_at = now() - interval '1 hour', confirmed_at = NULL WHERE user_id = $1`,
    [organization.owner.userId],
  )
  for (const refused of [
    await put(organization, organization.owner, 'https://logs.example.com/'),
    await api.send('DELETE', pathOf(organization), undefined, organization.owner.session),
  ]) {
    expect(refused.body).toMatchObject({ code: 'step_up_required' })
  }
})

it.each([
  ['http://logs.example.com/', 'invalid_url'],
  ['https://{{ secrets.HOST }}/', 'invalid_url'],
  ['https://10.2.0.1/', 'blocked_address'],
  ['http://10.2.0.1/', 'blocked_address'],
])('refuses %s', async (url, code) => {
  const organization = await anOrganization(api)
  const { status, body } = await put(organization, organization.owner, url)
  expect([status, body.errors[0].code]).toEqual([400, code])
})

it('accepts http for an address that the operator has opened', async () => {
  const organization = await anOrganization(api)
  expect((await put(organization, organization.owner, 'http://10.1.0.1/')).status).toBe(200)
})
