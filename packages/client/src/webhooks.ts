import { BelfryError } from './errors.ts'

/** A request that did not come from Belfry, was changed on its way, or is too old. */
export class WebhookVerificationError extends BelfryError {
  override name = 'WebhookVerificationError'
}

/** The headers of a request: `Headers`, or a plain object as Node's `request.headers`; in names case means nothing. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

export type VerifyOptions = {
  /** How old, or how far in the future, a request may be, in seconds. Default 300. */
  toleranceSeconds?: number
}

/** What a verified request says about itself. */
export type VerifiedWebhook = {
  /** The same on every attempt of one task: drop what you have seen. */
  id: string
  /** When the attempt was made. */
  timestamp: Date
}

const defaultTolerance = 300

/**
 * Checks that a request was sent by Belfry, as Standard Webhooks says. Answer 2xx only after it.
 * @param body - The body exactly as received: text or bytes, before anything has parsed it.
 * @param secret - The workspace's signing secret, `whsec_...`; several during a rotation.
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
  throw new WebhookVerificationError('No signature of the request was made with this secret.')
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
    throw new WebhookVerificationError('The request is too old, or from the future: its webhook-timestamp is off.')
  }
}

async function importKey(subtle: SubtleCrypto, secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : null
  if (!bytes) throw new TypeError('A signing secret starts with whsec_ and goes on in base64.')
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
  throw new TypeError('Give verify the body as it was received, as text or bytes: something has parsed it already.')
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

function findSubtle(): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle
  if (!subtle) throw new TypeError('There is no crypto.subtle here: browsers have it on https pages only.')
  return subtle
}

/** For receivers of Belfry's calls. */
export const webhooks = { verify }
