import type { SecureContext } from 'node:tls'
import type { Cidr } from '@belfry/domain/address'
import { FailedCallError, WithheldError } from './call-errors.ts'
import { createConnect } from './connect.ts'
import { createAddressGuard } from './guard-address.ts'
import { createHttpClient, type HttpClient, type HttpRequest } from './http-client.ts'
import type { SendOutcome } from './outcome.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import { createOwnListeners, type OwnListeners } from './own-listeners.ts'
import { createResolver, type Resolve } from './resolve-name.ts'
import { createTunnelDial } from './tunnel.ts'
import type { WriteGate } from './undici-adapter.ts'

export type { WriteGate } from './undici-adapter.ts'

/** A request that is ready to be sent, with its secrets filled in. */
export type OutgoingRequest = {
  url: string
  method: string
  headers: Record<string, string>
  /** Text is sent as UTF-8; null sends no body. */
  body: Buffer | string | null
  /** The time limit from the first DNS packet to the last byte of the response. A process that was blocked adds up to 1 s. */
  timeoutMs: number
}

export type SenderOptions = {
  /** Ranges that may be called although they are not public. */
  allowedPrivateTargets: readonly Cidr[]
  /** Ranges that may not be called, although they are public or allowed. Default: none. */
  blockedTargets?: readonly Cidr[]
  /** Ports that may not be called even in allowed ranges. Default: none. */
  listeners?: OwnListeners
  /** An HTTP proxy that all connections go through, credentials included. Default: none. */
  proxy?: URL | null
  /** Resolves names. Default: DNS, then the operating system. */
  resolve?: Resolve
  /** The trusted authorities. Default: those of Node, with TLS 1.2 or newer. */
  secureContext?: SecureContext
  /** For how long a request that cannot start is retried. Default: 3 s. */
  patienceMs?: number
}

/** Is told how a call ended, once: with an outcome, or with a fault of this process. */
export type CallEnds = { onOutcome(outcome: SendOutcome): void; onFault(error: unknown): void }

export type Sender = {
  /**
   * Makes one call; nothing that a target does is a fault. A call that cannot start, because file descriptors or the proxy
   * are missing, is retried for some seconds. The timeout starts with the last try.
   * @param gate - Decides last whether the call starts. Null: it does.
   */
  start(request: OutgoingRequest, ends: CallEnds, gate: WriteGate | null): void
  /** Makes one call as `start` does. `gate`: default null. */
  send(request: OutgoingRequest, gate?: WriteGate | null): Promise<SendOutcome>
  /** Aborts the calls in flight and closes all connections. */
  close(): Promise<void>
}

const shortagePauseMs = 250

/** Creates a sender. Every call to an address that a user chose goes through one. */
export function createSender(options: SenderOptions): Sender {
  const { allowedPrivateTargets: allowed, resolve = createResolver(), proxy, patienceMs = 3_000 } = options
  const guard = createAddressGuard({
    allowed,
    blocked: options.blockedTargets ?? [],
    resolve,
    listeners: options.listeners ?? createOwnListeners([], resolve),
  })
  const dial = proxy ? createTunnelDial(proxy) : undefined
  const client = createHttpClient(createConnect(guard, options.secureContext, dial))

  const start: Sender['start'] = (request, ends, gate) => new Call(client, request, ends, gate, patienceMs).start()
  return {
    start,
    send: (request, gate = null) => new Promise((onOutcome, onFault) => start(request, { onOutcome, onFault }, gate)),
    close: client.close,
  }
}

class Call {
  readonly #client: HttpClient
  readonly #request: HttpRequest
  readonly #ends: CallEnds
  readonly #giveUpAt: number

  constructor(
    client: HttpClient,
    request: OutgoingRequest,
    ends: CallEnds,
    gate: WriteGate | null,
    patienceMs: number,
  ) {
    const { url, method, headers, body: data, timeoutMs: timeout } = request
    const names = Object.keys(headers)
    const headerLines: string[] = new Array(names.length * 2)
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? ''
      headerLines[2 * i] = name
      headerLines[2 * i + 1] = headers[name] ?? ''
    }
    this.#client = client
    this.#request = { url, method, headerLines, data, timeout, gate }
    this.#ends = ends
    this.#giveUpAt = performance.now() + patienceMs
  }

  start(): void {
    this.#client
      .request(this.#request)
      .then(
        ({ data }) => this.#ends.onOutcome(data),
        error => this.#fail(error),
      )
      .catch(fault => this.#ends.onFault(fault))
  }

  #fail(error: unknown): void {
    const isOfCall = error instanceof FailedCallError
    const outcome = outcomeOfError(isOfCall ? error.cause : error)
    const isShortage = outcome.kind === 'unsent' && !(isOfCall && error.cause instanceof WithheldError)
    if (isShortage && performance.now() <= this.#giveUpAt) {
      // Nothing was sent, so the target does not get a second call. The wait keeps the slot taken, and so limits how often
      // the process runs into the shortage.
      setTimeout(() => this.start(), shortagePauseMs)
    } else if (outcome.kind === 'failure' && isOfCall) {
      this.#ends.onOutcome({ kind: 'failure', code: outcome.code, message: outcome.message, timings: error.timings })
    } else this.#ends.onOutcome(outcome)
  }
}
