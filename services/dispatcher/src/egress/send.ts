import type { SecureContext } from 'node:tls'
import type { Cidr } from '@belfry/domain'
import { Axios } from 'axios'
import { errors } from 'undici'
import {
  BlockedAddressError,
  ConnectTimeoutError,
  createAddressGuard,
  createConnect,
  NameResolutionError,
  type Resolve,
  TlsError,
} from './guard-address.ts'
import type { FailureCode, FailureOutcome, Outcome, ResponseOutcome } from './outcome.ts'
import { createUndiciAdapter, DeadlineError, InvalidRequestError, InvalidResponseError } from './undici-adapter.ts'

/** One attempt, ready to go out: everything is decided, and secrets are filled in. */
export type OutgoingRequest = {
  url: string
  method: string
  headers: Record<string, string>
  /** Goes out as its UTF-8 bytes; null sends none. */
  body: string | null
  /** From the first DNS packet to the last byte of the answer's body. */
  timeoutMs: number
}

export type SenderOptions = {
  /** Ranges that may be called although they are not public. */
  allowedPrivateTargets: readonly Cidr[]
  /** Where names come from. Default: DNS, then the operating system. */
  resolve?: Resolve
  /** Whom TLS trusts. Default: the authorities that Node trusts, with TLS 1.2 or newer. */
  secureContext?: SecureContext
}

export type Sender = {
  /** Makes one call and tells what came of it; nothing that a target does makes it throw. */
  send(request: OutgoingRequest): Promise<Outcome>
  /** Gives up the calls in flight and closes all connections. */
  close(): Promise<void>
}

const messages: Record<FailureCode, string> = {
  timeout: 'The target did not answer in time.',
  connection_refused: 'No connection to the target could be made.',
  connection_reset: 'The connection broke before the target had answered.',
  dns: 'The host name of the target could not be resolved.',
  tls: 'No secure connection to the target could be set up.',
  blocked_address: 'The target is not at a public address.',
  invalid_response: 'The answer of the target is not valid HTTP, or its headers are too long.',
  worker_lost: 'The dispatcher was stopped before the target had answered; the target may have been called.',
}

const certificateMessages = new Map([
  ['CERT_HAS_EXPIRED', 'The certificate of the target has expired.'],
  ['CERT_NOT_YET_VALID', 'The certificate of the target is not valid yet.'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'The certificate of the target is self-signed.'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'The certificate of the target is for another host name.'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'The certificate of the target is from an authority that is not trusted.'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'The certificate of the target is from an authority that is not trusted.'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'The target does not send the intermediate certificate of its authority.'],
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
  ['EMFILE', 'connection_refused'],
  ['ENFILE', 'connection_refused'],
  ['ENOBUFS', 'connection_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['UND_ERR_DESTROYED', 'worker_lost'],
])

const unsendableCodes = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED', 'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH']

/** Opens the one way out: every call to an address that a user chose goes through a sender. */
export function createSender(options: SenderOptions): Sender {
  const guard = createAddressGuard(options.allowedPrivateTargets, options.resolve)
  const { adapter, close } = createUndiciAdapter(createConnect(guard, options.secureContext))
  // Not axios.create(): its defaults would add headers and rewrite bodies.
  const http = new Axios({ adapter, transformRequest: [], transformResponse: [] })
  return {
    async send({ url, method, headers, body, timeoutMs }) {
      const headerLines = Object.entries(headers).flat()
      const data = body === null ? null : Buffer.from(body)
      try {
        const answer = await http.request<ResponseOutcome>({ url, method, headerLines, data, timeout: timeoutMs })
        return answer.data
      } catch (error) {
        return toFailure(error)
      }
    },
    close,
  }
}

function toFailure(error: unknown): FailureOutcome {
  const code = codeOf(error)
  if (error instanceof InvalidRequestError || unsendableCodes.includes(code)) {
    return failure('invalid_response', 'The request cannot be sent: its URL, method or a header is not valid.')
  }
  if (error instanceof TlsError) return failure('tls', certificateMessages.get(codeOf(error.cause)))
  if (error instanceof BlockedAddressError) return failure('blocked_address')
  if (error instanceof NameResolutionError) return failure('dns')
  if (error instanceof DeadlineError || error instanceof ConnectTimeoutError) return failure('timeout')
  if (error instanceof InvalidResponseError || error instanceof errors.HTTPParserError)
    return failure('invalid_response')
  // A peer may refuse the handshake after it has looked finished from here.
  if (code.startsWith('ERR_SSL')) return failure('tls')
  if (code === 'UND_ERR_SOCKET') return failure(isBadResponse(error) ? 'invalid_response' : 'connection_reset')
  // Without a code it is no failure of the network or of its protocols, but ours.
  if (code === '') throw error
  return failure(codes.get(code) ?? 'invalid_response')
}

function failure(code: FailureCode, message: string = messages[code]): FailureOutcome {
  return { kind: 'failure', code, message }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

// The transport has one code for a connection that broke and for an answer that it gave up on.
function isBadResponse(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('bad ')
}
