import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'

/** Returns the key of a signing secret, which is `whsec_` and base64. */
export function toSigningKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64'))
}

/** Signs a delivery as Standard Webhooks requires: one signature for each key, in order. */
export function sign(keys: readonly KeyObject[], id: string, timestamp: string, body: Buffer | string): string {
  const signatures = keys.map(key => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
    return `v1,${hmac.digest('base64')}`
  })
  return signatures.join(' ')
}
