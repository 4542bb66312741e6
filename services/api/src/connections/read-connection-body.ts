import { X509Certificate } from 'node:crypto'
import type { PutConnectionBody } from '@belfry/contract/connection'
import type { ConnectionSecrets, ConnectionSettings, OpenConnection } from '@belfry/db/connections/connections'
import type { FieldError } from '@belfry/domain/app-error'
import { readClientKey } from '@belfry/vault'
import { invalid } from '../http/refusals.ts'

/** Returns the settings in the body of a connection. */
export function settingsOf(body: PutConnectionBody): ConnectionSettings {
  return {
    ...ofKind(body),
    ...(body.ca_certificate ? { caCertificate: body.ca_certificate } : {}),
    ...(body.client_certificate ? { clientCertificate: body.client_certificate } : {}),
  }
}

function ofKind(body: PutConnectionBody): ConnectionSettings {
  switch (body.kind) {
    case 'header':
      return { header: body.header }
    case 'basic':
      return { username: body.username }
    case 'oauth2':
      return {
        tokenUrl: body.token_url,
        clientId: body.client_id,
        clientAuthentication: body.client_authentication,
        parameters: body.parameters,
        ...(body.scope ? { scope: body.scope } : {}),
      }
    case 'identity_token':
      return { audience: body.audience, lifetimeS: body.lifetime_s }
    case 'tls':
      return {}
  }
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
 * place: otherwise a caller that may not read it could have it sent to a host of their own.
 * @param before - The connection that is replaced; null for a new one.
 * @throws AppError `validation_failed` when one is missing, or a certificate is not valid.
 */
export function secretsOf(body: PutConnectionBody, before: OpenConnection | null): ConnectionSecrets {
  const given = givenSecrets(body)
  const kept = before !== null && goesNowhereNew(body, before) ? before.secrets : {}
  const errors: FieldError[] = []
  const secrets: ConnectionSecrets = {}
  for (const name of neededSecrets(body)) {
    const value = given[name] ?? kept[name]
    const path = fieldOf[name]
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

function givenSecrets(body: PutConnectionBody): ConnectionSecrets {
  return {
    ...(body.kind === 'header' && body.value !== undefined ? { value: body.value } : {}),
    ...(body.kind === 'basic' && body.password !== undefined ? { password: body.password } : {}),
    ...(body.kind === 'oauth2' && body.client_secret !== undefined ? { clientSecret: body.client_secret } : {}),
    ...(body.client_key === undefined ? {} : { clientKey: body.client_key }),
  }
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
    (body.ca_certificate ?? undefined) === before.settings.caCertificate
  )
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
