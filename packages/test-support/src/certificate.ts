import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** A fault of a certificate, which is never trusted by default. */
export type CertificateFault = 'expired' | 'not_yet_valid' | 'unknown_authority'

/**
 * Returns a key and a certificate for one host name or IPv4 address, self-signed and valid for a day, or with the given
 * fault.
 */
export function createCertificate(host: string, fault?: CertificateFault): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const issuerKey =
    fault === 'unknown_authority' ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey : privateKey
  const dayMs = 24 * 60 * 60 * 1000
  const now = Date.now() + (fault === 'expired' ? -2 : fault === 'not_yet_valid' ? 2 : 0) * dayMs
  const name = nameOf(host)
  const issuer = fault === 'unknown_authority' ? nameOf('Unknown') : name
  const subject = isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // version 3
    der(0x02, Buffer.from([1])), // serial number
    ecdsaWithSha256,
    issuer,
    sequence(time(now - dayMs), time(now + dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(subjectAltName, der(0x04, sequence(subject))))),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, issuerKey))
  const base64 = sequence(content, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function nameOf(text: string): Buffer {
  return sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(text)))))
}

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'))
const commonName = objectId('550403')
const subjectAltName = objectId('551d11')

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+|\D/g, '')
  return der(0x18, Buffer.from(`${digits}Z`))
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

// Encodes DER: tag, length, value.
function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts)
  const length = value.length < 128 ? [value.length] : [0x82, value.length >> 8, value.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), value])
}
