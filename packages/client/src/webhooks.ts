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

/** The identity of a verified request. */
export type VerifiedWebhook = {
  /** The same for all attempts of a task: ignore ids that you have processed. */
  id: string
  /** The time of the attempt. */
  timestamp: Date
}

const defaultTolerance = 300

/**
 * Verifies that Belfry sent a request, with the rules of Standard Webhooks. Respond with 2xx only afterwards.
 * @param body - The raw body, as text or bytes, before any parsing.
 * @param secret - The workspace's signing secret, `whsec_...`; an array of both during a rotation.
 * @throws WebhookVerificationError
 */
async function verify(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<VerifiedWebhook> {
  const id = headerOf(headers, 'webhook-id')
  const seconds = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature')
  requireRecent(seconds, options.toleranceSeconds ?? defaultTolerance)
  const subtle = findSubtle()
  const signed = concat(new TextEncoder().encode(`${id}.${seconds}.`), asBytes(body))
  const given = signatures.split(' ').flatMap(part => (part.startsWith('v1,') ? [decodeBase64(part.slice(3))] : []))
  for (const text of typeof secret === 'string' ? [secret] : secret) {
    const key = await importKey(subtle, text)
    for (const signature of given) {
      // Compares in constant time.
      if (signature && (await subtle.verify('HMAC', key, signature, signed))) {
        return { id, timestamp: new Date(Number(seconds) * 1000) }
      }
    }
  }
  throw new WebhookVerificationError('The request has no valid signature for this secret.')
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : findHeader(headers, name)
  const text = Array.isArray(value) ? value[0] : value
  if (!text) throw new WebhookVerificationError(`The request has no ${name} header.`)
  return text
}

function findHeader(headers: Record<string, string | string[] | undefined>, name: string) {
  return headers[name] ?? Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1]
}

function requireRecent(seconds: string, tolerance: number): void {
  const age = Math.abs(Date.now() / 1000 - Number(seconds))
  if (!/^\d+$/.test(seconds) || age > tolerance) {
    throw new WebhookVerificationError('The webhook-timestamp of the request is too old, or in the future.')
  }
}

async function importKey(subtle: SubtleCrypto, secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : null
  if (!bytes) throw new TypeError('A signing secret must be whsec_ followed by base64.')
  return subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
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
  if (body instanceof Uint8Array) return body
  throw new TypeError('verify requires the raw body, as text or bytes, but this body is already parsed.')
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
export const webhooks = { verify }
