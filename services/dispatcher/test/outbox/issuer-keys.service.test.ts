import { randomUUID } from 'node:crypto'
import { type Behaviour, startReceiver } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { setup } from './setup-outbox.ts'

const patient = { timeout: 20_000 }
const json = (body: unknown): Behaviour => ({ status: 200, body: JSON.stringify(body) })
const key = { kty: 'RSA', kid: 'k1', use: 'sig', alg: 'RS256', n: 'AQAB', e: 'AQAB' }

/** An issuer that speaks TLS, a workspace that trusts it, and a dispatcher's outbox. */
async function setupIssuer(path = '') {
  const receiver = await startReceiver({ certificateFor: '127.0.0.1' })
  onTestFinished(() => receiver.close())
  const issuer = receiver.url(path)
  const outbox = await setup(receiver.certificate)
  const { pool, store, open, row } = outbox
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  await pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', gen_random_uuid(), 'free')`, [
    organizationId,
  ])
  const insertWorkspace = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'Main')`
  await pool.query(insertWorkspace, [workspaceId, organizationId])
  const trust = async () => {
    const id = randomUUID()
    await pool.query(
      `INSERT INTO federated_credentials (id, workspace_id, name, issuer, audience, conditions, scopes, lifetime_ms, created_by)
       VALUES ($1, $2, 'CI', $3, 'a', '{}', '{read}', 60000, $1)`,
      [id, workspaceId, issuer],
    )
    return id
  }
  const metadata = `${path}/.well-known/openid-configuration`
  receiver.answer(metadata, json({ issuer, jwks_uri: receiver.url('/jwks') }))
  receiver.answer('/jwks', json({ keys: [key] }))
  const dispatcher = open(null)
  /** Has the keys read, and returns the outcome with the stored keys. */
  async function read(of: { credentialId?: string; workspaceId?: string } = {}) {
    const credentialId = of.credentialId ?? (await trust())
    const id = await store('webhook', { type: 'issuer_keys', workspaceId, ...of, credentialId })
    dispatcher.wake()
    await expect.poll(() => row(id), patient).toMatchObject({ isFinished: true })
    const { sent, error, attempts } = await row(id)
    const { rows } = await pool.query('SELECT keys FROM federated_credentials WHERE id = $1', [credentialId])
    return { sent, error, attempts, keys: rows[0]?.keys ?? null }
  }
  return { ...outbox, receiver, issuer, metadata, workspaceId, trust, read }
}

it.each(['', '/realms/acme'])('reads the public keys of an issuer (path "%s") through its metadata', async path => {
  const { read, receiver } = await setupIssuer(path)
  const keys = [
    { ...key, x5c: ['a long certificate'] },
    { kty: 'EC', kid: 'k2', crv: 'P-256', x: 'AQAB', y: 'AQAB' },
    { kty: 'oct', kid: 'k3', k: 'a secret' },
    { ...key, kid: 'k4', use: 'enc' },
    { ...key, kid: 'a\u0000b' },
    { ...key, n: 7 },
    { ...key, n: 'A'.repeat(6_001) },
    null,
  ]
  receiver.answer('/jwks', json({ keys }))
  expect(await read()).toEqual({ sent: true, error: null, attempts: 1, keys: { keys: [key, keys[1]] } })
  expect(receiver.requests.map(({ method }) => method)).toEqual(['GET', 'GET'])
})

it('keeps at most fifty keys', async () => {
  const { read, receiver } = await setupIssuer()
  receiver.answer('/jwks', json({ keys: Array.from({ length: 51 }, (_, i) => ({ ...key, kid: `k${i}` })) }))
  expect((await read()).keys.keys).toHaveLength(50)
})

it('gives up at once, and keeps no keys, where the issuer is not as it should be', { timeout: 60_000 }, async () => {
  const { read, receiver, issuer, metadata } = await setupIssuer()
  const keysAt = (url: string) => json({ issuer, jwks_uri: url })
  const good = keysAt(receiver.url('/jwks'))
  const faults: Array<[string, Behaviour, RegExp]> = [
    [metadata, { status: 404 }, /answered 404 for its metadata/],
    [metadata, { does: 'redirect', to: receiver.url('/elsewhere') }, /answered 302 for its metadata/],
    [metadata, json({ issuer: `${issuer}/other`, jwks_uri: receiver.url('/jwks') }), /name another issuer/],
    [metadata, json([]), /name another issuer/],
    [metadata, { status: 200, body: 'hello' }, /not a JSON object/],
    [metadata, { does: 'endless_body' }, /too long/],
    [metadata, { does: 'hang' }, /The metadata of the issuer: .*time/],
    [metadata, json({ issuer }), /no https URL/],
    [metadata, keysAt('http://example.com/jwks'), /no https URL/],
    [metadata, keysAt('https://10.0.0.1/jwks'), /The keys of the issuer: .*does not call/],
    [metadata, keysAt('https://169.254.169.254/latest/meta-data'), /The keys of the issuer: .*does not call/],
    ['/jwks', { does: 'redirect', to: 'https://169.254.169.254/' }, /answered 302 for its keys/],
    ['/jwks', { does: 'endless_body' }, /too long/],
    ['/jwks', { does: 'drip', everyMs: 500, part: 'body' }, /too slow/],
    ['/jwks', json({ keys: [] }), /publishes no keys/],
    ['/jwks', json({ keys: 'k1' }), /publishes no keys/],
    ['/jwks', json({ keys: [{ kty: 'oct', k: 'a secret' }] }), /publishes no keys/],
  ]
  for (const [path, behaviour, error] of faults) {
    receiver.answer(metadata, good)
    receiver.answer('/jwks', json({ keys: [key] }))
    receiver.answer(path, behaviour)
    expect(await read()).toEqual({ sent: false, error: expect.stringMatching(error), attempts: 1, keys: null })
  }
  expect(receiver.requestsTo('/elsewhere')).toEqual([])
})

it('calls no issuer for a deleted credential or workspace, nor for one of another workspace', async () => {
  const { read, receiver, trust, pool, workspaceId } = await setupIssuer()
  const refused = { sent: false, error: 'The federated credential has been deleted.', keys: null }
  expect(await read({ credentialId: randomUUID() })).toMatchObject(refused)
  expect(await read({ credentialId: await trust(), workspaceId: randomUUID() })).toMatchObject(refused)
  await pool.query('UPDATE workspaces SET deleted_at = now() WHERE id = $1', [workspaceId])
  expect(await read()).toMatchObject(refused)
  expect(receiver.requests).toEqual([])
})
