import { newUuid } from '@belfry/domain/id'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { anOrganization, type TestOrganization } from './organization.ts'
import type { Answer, Json, TestApi } from './setup.ts'

/** An issuer of tokens for jobs, with keys of its own. */
export type JobIssuer = {
  url: string
  publicKey: CryptoKey
  keys: { keys: JWK[] }
  /** Signs a token for a job of `acme/app` on its main branch. */
  sign(changes?: Json, by?: { key?: CryptoKey | Uint8Array; header?: Json }): Promise<string>
}

export const audience = 'http://belfry.test'

export async function aJobIssuer(kid = 'k1', url = `https://${newUuid()}.example`): Promise<JobIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  return {
    url,
    publicKey,
    keys: { keys: [{ ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' }] },
    sign(changes = {}, { key = privateKey, header = {} } = {}) {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: url, aud: audience, sub: 'repo:acme/app:ref:refs/heads/main', jti: newUuid() }
      const job = { repository: 'acme/app', repository_owner: 'acme', ref: 'refs/heads/main', run_attempt: 1 }
      const payload = { ...claims, ...job, iat: now, nbf: now, exp: now + 300, ...changes }
      return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid, ...header }).sign(key)
    },
  }
}

/** An organization whose workspace trusts an issuer. */
export type Trusting = { organization: TestOrganization; credential: Json }

const conditions = { repository: 'acme/app', ref: 'refs/heads/*' }

/** Makes an organization that trusts an issuer, and stores the issuer's keys as a dispatcher does. */
export async function anOrganizationThatTrusts(api: TestApi, issuer: JobIssuer, changes: Json = {}): Promise<Trusting> {
  const organization = await anOrganization(api)
  const path = `/api/v1/workspaces/${organization.workspaceId}/federated-credentials`
  const body = { name: 'Deploy', issuer: issuer.url, conditions, scopes: ['publish'], ...changes }
  const { body: credential } = await api.send('POST', path, body, organization.owner.session)
  await storeKeys(api, issuer)
  return { organization, credential }
}

/** Stores the keys of an issuer for all that trust it. */
export async function storeKeys({ db }: TestApi, { url, keys }: JobIssuer): Promise<void> {
  const text = 'UPDATE federated_credentials SET keys = $2, keys_read_at = now() WHERE issuer = $1'
  await db.query(text, [url, JSON.stringify(keys)])
}

let calls = 0

/** Exchanges a token, from an address of its own unless one is given. */
export function exchange(api: TestApi, { id }: Json, token: string, address?: string): Promise<Answer> {
  calls += 1
  const from = address ?? `192.0.${Math.floor(calls / 250)}.${calls % 250}`
  const body = { federated_credential_id: id, token }
  return api.send('POST', '/api/v1/auth/token-exchange', body, { 'X-Forwarded-For': from })
}
