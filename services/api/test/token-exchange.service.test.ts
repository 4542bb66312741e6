import { createHash } from 'node:crypto'
import { finishOutboxMessage, takeFromOutbox } from '@belfry/db/outbox/outbox'
import { fromId, newUuid } from '@belfry/domain/id'
import { exportJWK, exportSPKI, generateKeyPair } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  aJobIssuer,
  anOrganizationThatTrusts,
  audience,
  exchange,
  type JobIssuer,
  storeKeys,
  type Trusting,
} from './job-tokens.ts'
import { type Json, useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // takes the next message of the installation
const now = () => Math.floor(Date.now() / 1000)

let issuer: JobIssuer
beforeAll(async () => {
  issuer = await aJobIssuer()
})

const trusting = (changes: Json = {}) => anOrganizationThatTrusts(api, issuer, changes)
const keysOf = ({ organization }: Trusting) => `/api/v1/workspaces/${organization.workspaceId}/api-keys`
const workspaceOf = ({ organization }: Trusting) => fromId('ws', organization.workspaceId)

/** Adds keys of jobs to a workspace, without exchanges. */
async function addJobKeys(of: Trusting, count: number, expires = '10 minutes'): Promise<void> {
  await api.db.query(
    `INSERT INTO api_keys (id, workspace_id, name, prefix, hash, created_by, federated_credential_id, expires_at)
     SELECT gen_random_uuid(), $1, 'CI', 'bf_', uuid_send(gen_random_uuid()), $2, $2, now() + $3::interval
     FROM generate_series(1, $4::int)`,
    [workspaceOf(of), fromId('fed', of.credential.id), expires, count],
  )
}

describe('a token of a job', () => {
  it('becomes an API key that expires soon, with the rights of the credential and an entry in the audit log', async () => {
    const place = await trusting({ scopes: ['publish', 'queue.read'], lifetime_ms: 600_000 })
    const { organization, credential } = place
    const { status, body, headers } = await exchange(api, credential, await issuer.sign(), '198.51.100.7')
    expect([status, headers.get('location')]).toEqual([201, `${keysOf(place)}/${body.id}`])
    const { key, ...shown } = body
    const identity = { federated_credential_id: credential.id, subject: 'repo:acme/app:ref:refs/heads/main' }
    expect(shown).toMatchObject({ name: 'Deploy', scopes: ['publish', 'queue.read'], allowed_ranges: [], ...identity })
    const leftMs = Date.parse(body.expires_at) - Date.now()
    expect([leftMs > 590_000, leftMs < 610_000]).toEqual([true, true])
    const call = async (method: string, path: string, sent?: unknown) =>
      (await api.send(method, `/api/v1/scheduler/${path}`, sent, { 'X-Api-Key': key })).status
    expect(await call('GET', 'queues')).toBe(200)
    expect(await call('GET', 'tasks')).toBe(403)
    const { session } = organization.owner
    expect((await api.send('GET', keysOf(place), undefined, session)).body.data).toMatchObject([
      { id: body.id, ...identity },
    ])
    const log = await api.send('GET', `/api/v1/organizations/${organization.id}/audit-log`, undefined, session)
    expect(log.body.data[0]).toMatchObject({
      ...{ action: 'api_key.exchanged', object_id: body.id, address: '198.51.100.7' },
      actor: { user_id: null, api_key_id: body.id },
      details: { federated_credential: credential.id, issuer: issuer.url, subject: identity.subject },
    })
    expect(log.text).not.toContain(key)
    const read = await api.send(
      'GET',
      `/api/v1/workspaces/${organization.workspaceId}/federated-credentials`,
      undefined,
      session,
    )
    expect(read.body.data[0].last_used_at).not.toBeNull()
    expect((await api.send('DELETE', `${keysOf(place)}/${body.id}`, undefined, session)).status).toBe(204)
    expect(await call('GET', 'queues')).toBe(401)
  })

  it.each(['PS256', 'ES256', 'EdDSA'])('may be signed by %s', async alg => {
    const { publicKey, privateKey } = await generateKeyPair(alg)
    const other = await aJobIssuer()
    other.keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1' }] }
    const { credential } = await anOrganizationThatTrusts(api, other)
    expect((await exchange(api, credential, await other.sign({}, { key: privateKey, header: { alg } }))).status).toBe(
      201,
    )
  })

  it('works once, also with another form of its signature and at the same time', async () => {
    const { credential } = await trusting()
    const token = await issuer.sign()
    const all = await Promise.all(Array.from({ length: 4 }, () => exchange(api, credential, token)))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401])
    const padded = `${token}=`
    expect((await exchange(api, credential, padded)).status).toBe(401)
    const another = await trusting()
    const again = await exchange(api, another.credential, token)
    expect([again.status, again.body.detail]).toEqual([401, 'The token has been exchanged already: each works once.'])
  })

  it('is not rolled into a key that lasts, and stays out of the export of its creator', async () => {
    const place = await trusting()
    const { session } = place.organization.owner
    const { body } = await exchange(api, place.credential, await issuer.sign())
    const rolled = await api.send('POST', `${keysOf(place)}/${body.id}/roll`, { expires_at: null }, session)
    expect([rolled.status, rolled.body.code]).toEqual([409, 'conflict'])
    expect((await api.send('GET', '/api/v1/auth/me/export', undefined, session)).body.api_keys).toEqual([])
  })
})

describe('an attack', () => {
  const refused = (detail: string | RegExp) => ({
    status: 401,
    code: 'unauthenticated',
    detail: expect.stringMatching(detail),
  })
  async function attempt({ credential }: Trusting, token: string) {
    const { status, body } = await exchange(api, credential, token)
    return { status, code: body.code, detail: body.detail }
  }

  it.each([
    ['of another repository', { repository: 'evil/app' }, /claim repository/],
    ['of a repository with a longer name', { repository: 'acme/app-evil' }, /claim repository/],
    ['of a tag', { ref: 'refs/tags/v1' }, /claim ref/],
    ['without a claim', { ref: undefined }, /claim ref/],
    ['with a list of repositories', { repository: ['acme/app'] }, /claim repository/],
    ['for another audience', { aud: 'https://github.com/acme' }, /another audience/],
    ['for no audience', { aud: undefined }, /another audience/],
    ['that has expired', { exp: now() - 60 }, /has expired/],
    ['that never expires', { exp: undefined }, /when it expires/],
    ['that is valid for a year', { exp: now() + 365 * 86_400 }, /more than a day/],
    ['that is not valid yet', { nbf: now() + 120 }, /not valid yet/],
    ['without a subject', { sub: undefined }, /no subject/],
    ['with an empty subject', { sub: '' }, /subject of the token/],
    ['with a number for a subject', { sub: 7 }, /subject of the token/],
    ['with a subject that cannot be stored', { sub: 'a\u0000b' }, /subject of the token/],
    ['with half of a character in its subject', { sub: 'a\ud800' }, /subject of the token/],
    ['with a long subject', { sub: 'x'.repeat(1_001) }, /subject of the token/],
    ['that expires beyond all times', { exp: 1e300 }, /more than a day/],
    ['with malformed times', { exp: 'soon' }, /malformed claim|when it expires/],
  ])('cannot use a token %s', async (_what, changes, detail) => {
    expect(await attempt(await trusting(), await issuer.sign(changes))).toEqual(refused(detail))
  })

  it('cannot use a token of another issuer, also of one below its path or beside its name', async () => {
    const place = await trusting()
    for (const iss of [
      `${issuer.url}/evil`,
      `${issuer.url}/`,
      `${issuer.url}.evil.example`,
      'https://evil.example',
      undefined,
      [issuer.url],
    ]) {
      expect(await attempt(place, await issuer.sign({ iss }))).toEqual(refused(/not of the issuer/))
    }
    const below = await aJobIssuer('k1', `${issuer.url}/acme`)
    expect(await attempt(place, await below.sign())).toEqual(refused(/not of the issuer/))
    expect(await attempt(place, await below.sign({ iss: issuer.url }))).toEqual(refused(/signature/))
  })

  it('cannot use a token without a signature, or with one of a shared secret made from the public key', async () => {
    const place = await trusting()
    const [, payload] = (await issuer.sign()).split('.')
    for (const alg of ['none', 'None', 'NONE']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'k1' })).toString('base64url')
      expect(await attempt(place, `${header}.${payload}.`)).toEqual(refused(/signature/))
    }
    const [published] = issuer.keys.keys
    for (const secret of [await exportSPKI(issuer.publicKey), published?.n ?? '', JSON.stringify(published)]) {
      const token = await issuer.sign({}, { key: new TextEncoder().encode(secret), header: { alg: 'HS256' } })
      expect(await attempt(place, token)).toEqual(refused(/signature/))
    }
  })

  it('cannot bring its own key, or change a signed token', async () => {
    const place = await trusting()
    const own = await aJobIssuer()
    const jwk = own.keys.keys[0]
    for (const header of [{}, { jwk }, { jku: 'https://evil.example/jwks' }, { x5c: ['AAAA'] }]) {
      const token = await own.sign({ iss: issuer.url }, { header })
      expect(await attempt(place, token)).toEqual(refused(/signature/))
    }
    const [header, , signature] = (await issuer.sign()).split('.')
    const forged = Buffer.from(JSON.stringify({ iss: issuer.url, aud: audience, sub: 's', exp: now() + 60 })).toString(
      'base64url',
    )
    expect(await attempt(place, `${header}.${forged}.${signature}`)).toEqual(refused(/signature/))
    for (const text of ['x', 'x.y.z', '..', 'bf_key', `${header}.${forged}`]) {
      expect(await attempt(place, text)).toEqual(refused(/not a signed JWT|signature|not of the issuer/))
    }
  })

  it('cannot make an issuer publish a key that counts for every signature', async () => {
    const own = await aJobIssuer()
    const place = await anOrganizationThatTrusts(api, own)
    const token = await own.sign()
    const malformed = [{ n: 'AQAB', e: 'AQAB' }, { n: '', e: '' }, {}, { ...own.keys.keys[0], e: 'AQ' }]
    for (const members of malformed) {
      await storeKeys(api, { ...own, keys: { keys: [{ ...members, kty: 'RSA', kid: 'k1' }] } })
      expect(await attempt(place, token)).toEqual(refused(/signature/))
    }
  })

  it('cannot use the trust of one workspace for another: the conditions and the keys of each are its own', async () => {
    const [one, other] = [await trusting(), await trusting({ conditions: { repository: 'other/app' } })]
    const token = await issuer.sign()
    expect(await attempt(other, token)).toEqual(refused(/claim repository/))
    const { body } = await exchange(api, one.credential, token)
    expect(body.workspace_id).toBe(one.organization.workspaceId)
    const headers = { 'X-Api-Key': body.key, 'X-Workspace-Id': other.organization.workspaceId }
    expect((await api.send('GET', '/api/v1/scheduler/queues', undefined, headers)).status).toBe(404)
  })

  it('gets no key for a suspended organization or a deleted workspace', async () => {
    const [held, deleted] = [await trusting(), await trusting()]
    await api.db.query('UPDATE organizations SET suspended_at = now() WHERE id = $1', [
      fromId('org', held.organization.id),
    ])
    await api.db.query('UPDATE workspaces SET deleted_at = now() WHERE id = $1', [workspaceOf(deleted)])
    const answer = await exchange(api, held.credential, await issuer.sign())
    expect([answer.status, answer.body.code]).toEqual([403, 'suspended'])
    expect(await attempt(deleted, await issuer.sign())).toEqual(refused(/no such federated credential/))
  })
})

describe('the keys of an issuer', () => {
  /** Stands in for a dispatcher: carries out orders, by storing the keys of the issuer or by failing. */
  async function carryOut(of: JobIssuer, error: string | null = null): Promise<void> {
    await expect
      .poll(
        async () => {
          const taken = await takeFromOutbox(api.db, 'webhook', 60_000)
          if (!taken) return false
          if (error === null) await storeKeys(api, of)
          await finishOutboxMessage(api.db, taken, error)
          return true
        },
        { timeout: 10_000 },
      )
      .toBe(true)
  }
  const ordersOf = async (place: Trusting) =>
    (await api.db.query('SELECT FROM outbox WHERE organization_id = $1', [fromId('org', place.organization.id)]))
      .rowCount
  const age = (place: Trusting, keys: string, order: string) =>
    api.db.query(
      'UPDATE federated_credentials SET keys_read_at = now() - $2::interval, keys_ordered_at = now() - $3::interval WHERE id = $1',
      [fromId('fed', place.credential.id), keys, order],
    )

  it('are read at the first token, once for many', async () => {
    const own = await aJobIssuer()
    const place = await anOrganizationThatTrusts(api, own)
    await api.db.query('UPDATE federated_credentials SET keys = NULL, keys_read_at = NULL WHERE issuer = $1', [own.url])
    const answers = Promise.all(
      Array.from({ length: 5 }, async () => exchange(api, place.credential, await own.sign())),
    )
    await carryOut(own)
    expect((await answers).map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    expect(await ordersOf(place)).toBe(1)
  })

  it('are read again when a token names a new one', async () => {
    const own = await aJobIssuer()
    const place = await anOrganizationThatTrusts(api, own)
    expect((await exchange(api, place.credential, await own.sign())).status).toBe(201)
    const rotated = await aJobIssuer('k2', own.url)
    const answer = exchange(api, place.credential, await rotated.sign())
    await carryOut(rotated)
    expect((await answer).status).toBe(201)
    expect((await exchange(api, place.credential, await own.sign())).status).toBe(401)
  })

  it('are read at most every 30 seconds, however many tokens name unknown ones', async () => {
    const own = await aJobIssuer()
    const place = await anOrganizationThatTrusts(api, own)
    const flood = async () =>
      Promise.all(
        Array.from({ length: 30 }, async () =>
          exchange(api, place.credential, await own.sign({}, { header: { kid: newUuid() } })),
        ),
      )
    const first = flood()
    await carryOut(own)
    expect(new Set((await first).map(({ body }) => body.detail))).toEqual(
      new Set(['The token is signed with a key that its issuer does not publish.']),
    )
    await flood()
    expect(await ordersOf(place)).toBe(1)
    await age(place, '1 minute', '31 seconds')
    const second = flood()
    await carryOut(own)
    await second
    expect(await ordersOf(place)).toBe(2)
    expect((await exchange(api, place.credential, await own.sign())).status).toBe(201)
  })

  it('stay in use for a day while the issuer does not answer', async () => {
    const own = await aJobIssuer()
    const place = await anOrganizationThatTrusts(api, own)
    await age(place, '23 hours', '1 hour')
    const answer = own.sign().then(token => exchange(api, place.credential, token))
    await carryOut(own, 'The issuer answered 500 for its metadata.')
    expect((await answer).status).toBe(201)
    await age(place, '25 hours', '1 second')
    const late = await exchange(api, place.credential, await own.sign())
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '30'])
    expect(late.body.detail).toBe('The keys of the issuer could not be read. The issuer answered 500 for its metadata.')
  })
})

describe('limits', () => {
  const readClock = async () =>
    (await api.db.query<{ now: Date }>('SELECT clock_timestamp() AS now')).rows[0]?.now.getTime() ?? Number.NaN

  it('are apart: keys of jobs do not count for the limit of a tier, and have their own', {
    timeout: 30_000,
  }, async () => {
    const place = await trusting()
    const { organization, credential } = place
    const limit = api.ctx.config.tiers.free.apiKeys
    for (let i = 0; i < limit; i++) await organization.apiKey()
    const { session } = organization.owner
    expect((await api.send('POST', keysOf(place), { name: 'CI' }, session)).status).toBe(402)
    await addJobKeys(place, 999)
    await addJobKeys(place, 500, '-1 second')
    expect((await exchange(api, credential, await issuer.sign())).status).toBe(201)
    const token = await issuer.sign()
    const over = await exchange(api, credential, token)
    expect([over.status, over.body.code]).toEqual([429, 'rate_limited'])
    const after = Number(over.headers.get('retry-after'))
    expect([after > 500, after <= 600]).toEqual([true, true])
    await api.db.query('DELETE FROM api_keys WHERE federated_credential_id IS NOT NULL AND workspace_id = $1', [
      workspaceOf(place),
    ])
    expect((await exchange(api, credential, token)).status).toBe(201)
    const other = await trusting()
    await addJobKeys(other, 1_000)
    expect((await api.send('POST', keysOf(other), { name: 'CI' }, other.organization.owner.session)).status).toBe(201)
  })

  it('of requests per second hold for all keys of a credential together', async () => {
    const { credential } = await trusting({ scopes: ['read'] })
    const taken = vi.spyOn(api.ctx.rateLimits, 'take')
    onTestFinished(() => taken.mockRestore())
    for (let i = 0; i < 2; i++) {
      const { key } = (await exchange(api, credential, await issuer.sign())).body
      expect((await api.send('GET', '/api/v1/scheduler/queues', undefined, { 'X-Api-Key': key })).status).toBe(200)
    }
    const allowance = [fromId('fed', credential.id), api.ctx.config.tiers.free.requestsPerSecond]
    expect(taken.mock.calls).toEqual([allowance, allowance])
  })

  it('of an address count refused tokens only', async () => {
    const { credential } = await trusting()
    const address = '203.0.113.9'
    for (let i = 0; i < 5; i++) {
      expect((await exchange(api, credential, await issuer.sign(), address)).status).toBe(201)
    }
    const full = await trusting()
    await addJobKeys(full, 1_000)
    expect((await exchange(api, full.credential, await issuer.sign(), address)).status).toBe(429)
    const name = createHash('sha256').update(`token exchange from ${address}`).digest('base64url')
    const startedAt = await readClock()
    const free = await api.db.query<{ at: Date }>('SELECT free_at AS at FROM throttles WHERE name = $1', [name])
    expect(free.rows[0]?.at.getTime()).toBeLessThanOrEqual(startedAt)
    const wrong = await Promise.all(Array.from({ length: 101 }, () => exchange(api, credential, 'x.y.z', address)))
    const statuses = wrong.map(({ status }) => status)
    const counted = statuses.filter(status => status === 401).length
    expect(counted).toBeGreaterThanOrEqual(100)
    // The address gets an attempt back every three seconds. A busy machine may have given it some before the next request.
    const moveBack = `UPDATE throttles SET free_at = free_at + interval '1 minute' WHERE name = $1 RETURNING free_at - interval '1 minute' AS "freeAt"`
    const { rows } = await api.db.query<{ freeAt: Date }>(moveBack, [name])
    expect((rows[0]?.freeAt.getTime() ?? 0) - startedAt).toBeGreaterThanOrEqual(counted * 3_000)
    const refused = await exchange(api, credential, await issuer.sign(), address)
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect((await exchange(api, credential, await issuer.sign(), '203.0.113.10')).status).toBe(201)
  })
})
