import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { errors } from 'undici'
import { CallFailure, NameResolutionError, ProxyError, TlsError, WithheldError } from './call-errors.ts'
import { type FailureCode, type FailureOutcome, failureMessages, type UnsentOutcome } from './outcome.ts'

const clientCertificate = 'The target does not accept the client certificate of the connection.'
const tlsMessages = new Map([
  ['CERT_HAS_EXPIRED', 'The certificate of the target has expired.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the target is not valid yet.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate of the target is self-signed.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the target is for another host name.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'The certificate of the target is from an authority that is not trusted.'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'The certificate of the target is from an authority that is not trusted.'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'The target does not send the intermediate certificate of its authority.'],
  ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'The target demands a client certificate.'],
  // With TLS 1.2 this is all that it says.
  [
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'The target refused the handshake: it demands a client certificate, or shares no cipher.',
  ],
  ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', clientCertificate],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', clientCertificate],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN', clientCertificate],
  ['ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE', clientCertificate],
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', clientCertificate],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'The target has no version of TLS that Belfry accepts.'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'The target has no version of TLS that Belfry accepts.'],
  ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'The target offers HTTP/2 only, which Belfry does not speak.'],
  ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', 'The target has no certificate for this host name.'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'The target does not speak TLS on this port, as one for plain HTTP.'],
])

const codes = new Map<string, FailureCode>([
  ['ETIMEDOUT', 'timeout'],
  ['ECONNREFUSED', 'connection_refused'],
  ['EHOSTUNREACH', 'connection_refused'],
  ['EHOSTDOWN', 'connection_refused'],
  ['ENETUNREACH', 'connection_refused'],
  ['ENETDOWN', 'connection_refused'],
  ['EADDRNOTAVAIL', 'connection_refused'],
  ['EACCES', 'connection_refused'],
  ['EPERM', 'connection_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['UND_ERR_DESTROYED', 'worker_lost'],
])

// These errors mean that this process cannot open connections at all.
const shortages = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']

const unsendableCodes = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']

/** Maps an error of the transport to an outcome; rethrows anything else. */
export function outcomeOfError(error: unknown): FailureOutcome | UnsentOutcome {
  const code = codeOf(error)
  if (error instanceof CallFailure) return failure(error.failure, error.message)
  if (error instanceof WithheldError) return { kind: 'unsent', message: error.message }
  if (error instanceof ProxyError) return unsent('The egress proxy could not be used', error)
  if (shortages.includes(code)) return unsent('No connection can be opened', { cause: error })
  if (unsendableCodes.includes(code)) {
    return failure('invalid_response', 'The request cannot be sent: its URL, method or a header is not valid.')
  }
  if (error instanceof TlsError) return failure('tls', tlsMessages.get(codeOf(error.cause)))
  if (error instanceof NameResolutionError)
    return isOutOfDescriptors() ? unsent('No name can be looked up', { message: 'EMFILE' }) : failure('dns')
  const fault = faultOfResponse(error)
  if (fault !== null) return failure('invalid_response', invalidHttp(fault))
  // The peer may refuse the handshake after this side has finished it.
  if (code.startsWith('ERR_SSL')) return failure('tls', tlsMessages.get(code))
  if (code === 'UND_ERR_SOCKET') return failure('connection_reset')
  // An error without a code is a fault of Belfry, not of the network or its protocols.
  if (code === '') throw error
  return failure(codes.get(code) ?? 'invalid_response')
}

/** The message of an answer that is not valid HTTP. */
export function invalidHttp(fault: string): string {
  return `The answer of the target is not valid HTTP (${fault}).`
}

/** Returns the fault of a response that undici cannot read; null for other errors. */
export function faultOfResponse(error: unknown): string | null {
  if (error instanceof errors.HTTPParserError) return /\((.+)\)$/.exec(error.message)?.[1] ?? 'no reason known'
  if (error instanceof errors.HeadersOverflowError) return 'more than 64 KiB'
  // undici counts the bytes of a body that it has not come to.
  if (error instanceof errors.ResponseContentLengthMismatchError)
    return 'Content-Length twice, or an invalid header after it'
  // undici has one code for this and for a broken connection.
  const isBad = error instanceof errors.SocketError && error.message.startsWith('bad ')
  return isBad ? 'a change of the protocol that was not asked for' : null
}

/** True for errors that mean that an established connection ended. */
export function isConnectionLoss(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'UND_ERR_SOCKET' ? faultOfResponse(error) === null : codes.get(code) === 'connection_reset'
}

function failure(code: FailureCode, message: string = failureMessages[code]): FailureOutcome {
  return { kind: 'failure', code, message }
}

function unsent(what: string, { cause, message = '' }: { cause?: unknown; message?: string }): UnsentOutcome {
  return { kind: 'unsent', message: `${what} (${codeOf(cause) || message || 'no reason known'}).` }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

// Resolvers do not report that file descriptors are missing.
function isOutOfDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return false
  } catch (error) {
    return shortages.includes(codeOf(error))
  }
}
