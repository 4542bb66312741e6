import { BelfryError } from './errors.ts'

/** The request does not come from Belfry, was changed in transit, or is too old. */
export class WebhookVerificationError extends BelfryError {
  override name = 'WebhookVerificationError'
}

/** The headers of a request: `Headers`, or a plain object such as Node's `request.headers`. Names are case-insensitive. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export type VerifyOptions = {
  /** The maximum age of a request, and the maximum time in the future, in seconds. Default 300. */
  toleranceSeconds?: number
}

export type SignOptions = {
  /** The id of the task. Default `task_test`. */
  id?: string
  /** The time of the attempt. Default: now. */
  timestamp?: Date
}

/** A verified request. */
export type VerifiedWebhook<Payload = unknown> = {
  /** The same for all attempts of a task: ignore ids that you have processed. */
  id: string
  /** The time of the attempt. */
  timestamp: Date
  /** The parsed JSON; text if the content type is not JSON; undefined if the request has no body. */
  payload: Payload
}

const defaultTolerance = 300

/**
 * Verifies that Belfry sent a request, with the rules of Standard Webhooks. Respond with 2xx only afterwards.
 * @param body - The raw body, as text or bytes, before any parsing.
 * @param secret - The workspace's signing secret, `whsec_...`, or its public key, `whpk_...`; an array during a rotation.
 * @throws WebhookVerificationError
 * @throws TypeError without a secret, and for a body that was parsed before.
 */
async function verify<Payload = unknown>(
  body: string | ArrayBuffer | ArrayBufferView,
  headers: WebhookHeaders,
  secret: string | readonly string[] | undefined,
  options: VerifyOptions = {},
): Promise<VerifiedWebhook<Payload>> {
  const secrets = secretsOf(secret)
  const bytes = asBytes(body)
  const id = headerOf(headers, 'webhook-id')
  const seconds = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  requireRecent(seconds, options.toleranceSeconds ?? defaultTolerance)
  const subtle = findSubtle()
  const signed = concat(new TextEncoder().encode(`${id}.${seconds}.`), bytes)
  const given = signatures.split(' ').map(part => part.split(','))
  for (const text of secrets) {
    const key = await importVerifyingKey(subtle, text)
    for (const [version, encoded = ''] of given) {
      const signature = version === versionOf(key) ? decodeBase64(encoded) : null
      // Compares in constant time.
      if (signature && (await subtle.verify(key.algorithm.name, key, signature, signed))) {
        return { id, timestamp: new Date(Number(seconds) * 1000), payload: payloadOf(bytes, headers) as Payload }
      }
    }
  }
  throw new WebhookVerificationError('The request has no valid signature for this secret.')
}

/**
 * Signs a request as Belfry does, for tests of receivers.
 * @param secret - A signing secret, `whsec_...`, or a private key, `whsk_...`.
 * @returns The headers of the signature.
 */
async function sign(
  body: string | Uint8Array,
  secret: string,
  { id = 'task_test', timestamp = new Date() }: SignOptions = {},
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const [text = ''] = secretsOf(secret)
  const seconds = String(Math.floor(timestamp.getTime() / 1000))
  const subtle = findSubtle()
  const key = await importSigningKey(subtle, text)
  const signed = concat(new TextEncoder().encode(`${id}.${seconds}.`), asBytes(body))
  const signature = btoa(String.fromCharCode(...new Uint8Array(await subtle.sign(key.algorithm.name, key, signed))))
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `${versionOf(key)},${signature}` }
}

// Without a secret every request would be refused, and Belfry would retry for an hour.
function secretsOf(secret: string | readonly string[] | undefined): string[] {
  const given = (typeof secret === 'string' ? [secret] : (secret ?? [])).filter(Boolean)
  if (given.length > 0) return given
  throw new TypeError(
    'There is no signing secret. Set BELFRY_SIGNING_SECRET to the whsec_... of your workspace: GET /api/v1/workspaces/current/signing-secrets returns it.',
  )
}

function payloadOf(bytes: Uint8Array, headers: WebhookHeaders): unknown {
  if (bytes.length === 0) return undefined
  const text = new TextDecoder().decode(bytes)
  if (!/\bjson\b/i.test(findHeader(headers, 'content-type') ?? 'application/json')) return text
  try {
    return JSON.parse(text)
  } catch {
    return text // the sender of the task claims JSON
  }
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const text = findHeader(headers, name)
  if (!text) throw new WebhookVerificationError(`The request has no ${name} header.`)
  return text
}

function findHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name] ?? Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
  return Array.isArray(value) ? value[0] : value
}

function requireRecent(seconds: string, tolerance: number): void {
  const age = Math.abs(Date.now() / 1000 - Number(seconds))
  if (!/^\d+$/.test(seconds) || age > tolerance) {
    throw new WebhookVerificationError('The webhook-timestamp of the request is too old, or in the future.')
  }
}

const versionOf = (key: CryptoKey) => (key.algorithm.name === 'HMAC' ? 'v1' : 'v1a')

async function importVerifyingKey(subtle: SubtleCrypto, text: string): Promise<CryptoKey> {
  const publicKey = bytesOf(text, 'whpk_')
  if (publicKey === null) return importSecret(subtle, text, 'verify')
  return subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
}

// The ASN.1 before the 32 bytes of an Ed25519 key in PKCS #8.
const pkcs8Head = new Uint8Array([48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32])

async function importSigningKey(subtle: SubtleCrypto, text: string): Promise<CryptoKey> {
  const privateKey = bytesOf(text, 'whsk_')
  if (privateKey === null) return importSecret(subtle, text, 'sign')
  // Some libraries append the public key.
  const pkcs8 = concat(pkcs8Head, privateKey.subarray(0, 32))
  return subtle.importKey('pkcs8', pkcs8, 'Ed25519', false, ['sign'])
}

function importSecret(subtle: SubtleCrypto, text: string, usage: 'sign' | 'verify'): Promise<CryptoKey> {
  const bytes = bytesOf(text, 'whsec_')
  if (bytes === null)
    throw new TypeError(
      'A signing secret is whsec_ followed by base64, and a public key whpk_; not an API key or other text.',
    )
  return subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [usage])
}

function bytesOf(text: string, prefix: string): Uint8Array<ArrayBuffer> | null {
  return text.startsWith(prefix) ? decodeBase64(text.slice(prefix.length)) : null
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), character => character.charCodeAt(0))
  } catch {
    return null // not base64
  }
}

function asBytes(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
  const fault = body === undefined ? 'no body was given: did a body parser run?' : 'this body is already parsed.'
  throw new TypeError(`verify requires the raw body, as text or bytes, but ${fault}`)
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

function findSubtle(): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle
  if (!subtle) throw new TypeError('crypto.subtle is not available; browsers have it on https pages only.')
  return subtle
}

/** Functions for receivers of webhooks. */
export const webhooks = { verify, sign }
