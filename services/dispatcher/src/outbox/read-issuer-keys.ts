import { type CredentialOfWorkspace, readIssuer, storeIssuerKeys } from '@belfry/db/federation/issuer-keys'
import type { Pool } from '@belfry/db/postgres/pool'
import type { Sender } from '../egress/send.ts'
import { UndeliveredMessage } from './outbox-sender.ts'

type Reader = { pool: Pool; sender: Sender; identity: { userAgent: string } }
type Json = Readonly<Record<string, unknown>>

const timeoutMs = 4_000
const maxKeys = 50
const maxLength = 6_000
// The members of a public key that a verifier needs. Certificates are long, and their chains are not checked.
const members = ['kty', 'kid', 'alg', 'use', 'n', 'e', 'crv', 'x', 'y']

/**
 * Reads the public keys of the issuer of a federated credential, through its metadata, and stores them.
 * @throws UndeliveredMessage when the issuer does not give them. A retry would come too late for the job that waits.
 */
export async function readIssuerKeys(reader: Reader, credential: CredentialOfWorkspace): Promise<void> {
  const issuer = await readIssuer(reader.pool, credential)
  if (issuer === null) throw failed('The federated credential has been deleted.')
  const metadata = await get(reader, `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, 'metadata')
  if (metadata.issuer !== issuer) throw failed('The metadata of the issuer name another issuer.')
  const url = metadata.jwks_uri
  if (typeof url !== 'string' || !URL.canParse(url) || new URL(url).protocol !== 'https:') {
    throw failed('The metadata of the issuer have no https URL of its keys.')
  }
  const { keys } = await get(reader, url, 'keys')
  const known = Array.isArray(keys) ? keys.slice(0, maxKeys).flatMap(publicKeyOf) : []
  if (known.length === 0) throw failed('The issuer publishes no keys for signatures.')
  await storeIssuerKeys(reader.pool, credential, { keys: known })
}

async function get({ sender, identity }: Reader, url: string, what: string): Promise<Json> {
  const headers = { 'User-Agent': identity.userAgent, Accept: 'application/json' }
  const outcome = await sender.send({ url, method: 'GET', headers, body: null, timeoutMs })
  if (outcome.kind === 'unsent') throw failed('The issuer could not be called.')
  if (outcome.kind === 'failure') throw failed(`The ${what} of the issuer: ${outcome.message}`)
  if (outcome.status !== 200) throw failed(`The issuer answered ${outcome.status} for its ${what}.`)
  if (outcome.bodyTruncated) throw failed(`The ${what} of the issuer are too long, or too slow.`)
  try {
    const value: unknown = JSON.parse(outcome.body.toString())
    if (typeof value === 'object' && value !== null) return value as Json
  } catch {
    // reported below
  }
  throw failed(`The ${what} of the issuer are not a JSON object.`)
}

// A malformed key is left out: the others may be good.
function publicKeyOf(key: unknown): Json[] {
  if (typeof key !== 'object' || key === null) return []
  const entries = Object.entries(key).filter(([name]) => members.includes(name))
  const isPlain = entries.every(
    ([, value]) => typeof value === 'string' && value.length <= maxLength && /^[ -~]*$/.test(value),
  )
  const { kty, use } = key as Json
  return isPlain && typeof kty === 'string' && kty !== 'oct' && use !== 'enc' ? [Object.fromEntries(entries)] : []
}

function failed(text: string): UndeliveredMessage {
  return new UndeliveredMessage(text, { isFinal: true })
}
