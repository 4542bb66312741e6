import { createPrivateKey, generateKeyPairSync, randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { readClientKey } from './client-key.ts'

const pemOf = (key: ReturnType<typeof createPrivateKey>) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Returns an RSA key of random numbers: OpenSSL does not check them, and a real one would take seconds. */
function rsaKey(bits: number): string {
  const number = (share: number) =>
    Buffer.concat([Buffer.of(0x80), randomBytes(bits / share - 1)]).toString('base64url')
  const [n, d] = [number(8), number(8)]
  const [p, q, dp, dq, qi] = [number(16), number(16), number(16), number(16), number(16)]
  return pemOf(createPrivateKey({ format: 'jwk', key: { kty: 'RSA', e: 'AQAB', n, d, p, q, dp, dq, qi } }))
}

it('a client key is RSA of up to 4,096 bits, EC on a curve of TLS, or Ed25519', () => {
  const ec = (namedCurve: string) => pemOf(generateKeyPairSync('ec', { namedCurve }).privateKey)
  const usable = [rsaKey(2048), rsaKey(4096), ec('prime256v1'), ec('secp384r1'), ec('secp521r1')]
  for (const pem of [...usable, pemOf(generateKeyPairSync('ed25519').privateKey)]) {
    expect(pemOf(readClientKey(pem))).toBe(pem)
  }
  const others = [pemOf(generateKeyPairSync('x25519').privateKey), pemOf(generateKeyPairSync('ed448').privateKey)]
  for (const pem of [rsaKey(4104), rsaKey(16_384), ec('sect571r1'), ...others, 'no key']) {
    expect(() => readClientKey(pem)).toThrow()
  }
})
