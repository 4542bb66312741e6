import { createPrivateKey, type KeyObject } from 'node:crypto'

const maxRsaBits = 4096
const curves = ['prime256v1', 'secp384r1', 'secp521r1']

/**
 * Returns the private key of a client certificate: RSA of up to 4,096 bits, EC on a curve of TLS, or Ed25519. A signature by an
 * RSA key of 16,384 bits would block the event loop for two seconds.
 * @throws when the text is not such a key, or needs a passphrase.
 */
export function readClientKey(pem: string): KeyObject {
  const key = createPrivateKey(pem)
  const { modulusLength = Number.POSITIVE_INFINITY, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  const isUsable =
    key.asymmetricKeyType === 'ed25519' ||
    (key.asymmetricKeyType === 'rsa' && modulusLength <= maxRsaBits) ||
    (key.asymmetricKeyType === 'ec' && curves.includes(namedCurve))
  if (!isUsable) throw new Error('A client key must be RSA of up to 4,096 bits, EC, or Ed25519.')
  return key
}
