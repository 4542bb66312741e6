import { X509Certificate } from 'node:crypto'
import type { Connection, PutConnectionBody } from '@belfry/contract/connection'
import type { ConnectionSecrets, ConnectionSettings, OpenConnection } from '@belfry/db/connections/connections'
import { type FieldError, invalid } from '@belfry/domain/app-error'
import { readClientKey } from '@belfry/vault'

// The field of each setting, in the order of the public form. A body has only the fields of its kind.
const fieldOfSetting = {
  header: 'header',
  username: 'username',
  tokenUrl: 'token_url',
  clientId: 'client_id',
  clientAuthentication: 'client_authentication',
  scope: 'scope',
  parameters: 'parameters',
  audience: 'audience',
  lifetimeS: 'lifetime_s',
  caCertificate: 'ca_certificate',
  clientCertificate: 'client_certificate',
} as const satisfies Record<keyof ConnectionSettings, keyof Connection>

const settings = Object.entries(fieldOfSetting) as Array<[keyof ConnectionSettings, SettingField]> // as written above
type SettingField = (typeof fieldOfSetting)[keyof ConnectionSettings]

/** Returns the settings in the body of a connection. Skips empty texts. */
export function settingsOf(body: PutConnectionBody): ConnectionSettings {
  const given: Partial<Record<string, unknown>> = body
  return Object.fromEntries(settings.flatMap(([name, field]) => (given[field] ? [[name, given[field]]] : [])))
}

export function presentSettings(stored: ConnectionSettings): Pick<Connection, SettingField> {
  const fields = settings.map(([name, field]) => [field, stored[name] ?? null])
  return Object.fromEntries(fields) as Pick<Connection, SettingField> // each field of the table
}

/** The field of the body with each secret. */
const fieldOf = {
  value: 'value',
  password: 'password',
  clientSecret: 'client_secret',
  clientKey: 'client_key',
} as const

/**
 * Returns the secrets of a connection. An omitted one stays as it is stored, unless the change would send it to a new
 * place: otherwise a caller that may not read it could have it sent to their own host.
 * @param before - The connection that is replaced; null for a new one.
 * @throws AppError `validation_failed` when one is missing, or a certificate is not valid.
 */
export function secretsOf(body: PutConnectionBody, before: OpenConnection | null): ConnectionSecrets {
  const given: Partial<Record<(typeof fieldOf)[keyof ConnectionSecrets], string | undefined>> = body
  const kept = before !== null && goesNowhereNew(body, before) ? before.secrets : {}
  const errors: FieldError[] = []
  const secrets: ConnectionSecrets = {}
  for (const name of neededSecrets(body)) {
    const path = fieldOf[name]
    const value = given[path] ?? kept[name]
    if (value !== undefined) secrets[name] = value
    else errors.push({ path, code: 'required', message: `${path} is required.` })
  }
  if (body.kind === 'tls' && !body.ca_certificate && !body.client_certificate) {
    const message = 'A connection of this kind needs a ca_certificate, a client_certificate, or both.'
    errors.push({ path: 'ca_certificate', code: 'required', message })
  }
  errors.push(...certificateErrors(body, secrets.clientKey))
  if (errors.length > 0) throw invalid('body', errors)
  return secrets
}

function neededSecrets(body: PutConnectionBody): Array<keyof ConnectionSecrets> {
  const own = { header: 'value', basic: 'password', oauth2: 'clientSecret', identity_token: null, tls: null } as const
  const name = own[body.kind]
  return [...(name === null ? [] : [name]), ...(body.client_certificate ? (['clientKey'] as const) : [])]
}

function goesNowhereNew(body: PutConnectionBody, before: OpenConnection): boolean {
  return (
    body.kind === before.kind &&
    body.hosts.every(host => before.hosts.includes(host)) &&
    (body.kind !== 'oauth2' || body.token_url === before.settings.tokenUrl) &&
    withoutSpace(body.ca_certificate) === withoutSpace(before.settings.caCertificate)
  )
}

// A form sends a certificate with other line ends than the ones that another caller has stored.
function withoutSpace(pem: string | null | undefined): string {
  return pem?.replace(/\s/g, '') ?? ''
}

function certificateErrors(body: PutConnectionBody, clientKey: string | undefined): FieldError[] {
  const { ca_certificate: ca, client_certificate: certificate } = body
  const errors: FieldError[] = []
  const check = (path: string, message: string, run: () => unknown) => {
    try {
      run()
    } catch {
      // The error of OpenSSL may quote the text.
      errors.push({ path, code: 'invalid_pem', message })
    }
  }
  if (ca) check('ca_certificate', 'ca_certificate must have certificates only.', () => readCertificates(ca))
  if (certificate) {
    check('client_certificate', 'client_certificate must have certificates only.', () => readCertificates(certificate))
  } else if (body.client_key !== undefined) {
    errors.push({ path: 'client_certificate', code: 'required', message: 'client_key needs a client_certificate.' })
  }
  if (certificate && clientKey !== undefined && errors.length === 0) {
    const message =
      'client_key must be the private key of client_certificate, RSA of up to 4,096 bits, EC or Ed25519, without a passphrase.'
    check('client_key', message, () => {
      if (!new X509Certificate(certificate).checkPrivateKey(readClientKey(clientKey))) throw new Error(message)
    })
  }
  return errors
}

// The API returns certificates, so their text must not have a private key. OpenSSL ignores other parts.
function readCertificates(pem: string): void {
  for (const part of pem.split(/(?=-----BEGIN )/)) if (part.trim() !== '') new X509Certificate(part)
}
