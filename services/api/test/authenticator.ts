import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Changes = { origin?: string; rpId?: string; type?: string; isVerified?: boolean }
type Options = { challenge: string; rp?: { id?: string }; rpId?: string }

const text = (bytes: Buffer) => bytes.toString('base64url')
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** An authenticator in software, with one passkey: it signs what a test tells it to, also what a real one would refuse. */
export function anAuthenticator() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = publicKey.export({ format: 'jwk' })
  const id = randomBytes(16)
  let counter = 0

  const clientData = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

  const authData = (rpId: string, flags: number) => {
    const rest = Buffer.alloc(5)
    rest.writeUInt8(flags, 0)
    rest.writeUInt32BE(++counter, 1)
    return Buffer.concat([sha256(rpId), rest])
  }

  // A COSE key of ES256, in CBOR.
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(jwk.x ?? '', 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(jwk.y ?? '', 'base64url'),
  ])

  return {
    id: text(id),
    /** Returns the answer to the options of an enrolment. */
    make({ challenge, rp }: Options, { origin = 'http://belfry.test', rpId = rp?.id ?? '' }: Changes = {}) {
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, coseKey])
      const data = Buffer.concat([authData(rpId, 0x45), credential])
      // {fmt: 'none', attStmt: {}, authData: data}, in CBOR.
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([data.length]),
        data,
      ])
      const clientDataJSON = text(clientData('webauthn.create', challenge, origin))
      const response = { clientDataJSON, attestationObject: text(attestation), transports: ['internal'] }
      return { id: text(id), rawId: text(id), type: 'public-key', response }
    },
    /** Returns the answer to the options of a sign-in or a confirmation. */
    sign({ challenge, rpId = '' }: Options, changes: Changes = {}) {
      const { origin = 'http://belfry.test', type = 'webauthn.get', isVerified = true } = changes
      const data = authData(changes.rpId ?? rpId, isVerified ? 5 : 1)
      const client = clientData(type, challenge, origin)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      const response = { clientDataJSON: text(client), authenticatorData: text(data), signature: text(signature) }
      return { id: text(id), rawId: text(id), type: 'public-key', response }
    },
  }
}
