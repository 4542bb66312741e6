import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Reads a signing secret, `whsec_` and base64, into the key that it stands for. */
export function toSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))
}

/** Signs a delivery as Standard Webhooks says: one signature for each key, in order. */
export function sign(keys: readonly KeyObject[], id: string, timestamp: string, body: Buffer | string): string {
  const signatures = keys.map(key => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return signatures.join(' ')
}
