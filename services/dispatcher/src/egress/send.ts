import type { SecureContext } from 'node:tls'
import axios, { type AxiosAdapter, AxiosHeaders, type AxiosResponse, type CreateAxiosDefaults } from 'axios'
import { FailedCallError, WithheldError } from './call-errors.ts'
import { type Connect, createConnect } from './connect.ts'
import { type AddressRules, createAddressGuard } from './guard-address.ts'
import type { ResponseOutcome, SendOutcome } from './outcome.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import { createTunnelDial } from './tunnel.ts'
import { createUndiciAdapter, type WriteGate } from './undici-adapter.ts'

export type { WriteGate } from './undici-adapter.ts'

/** A request that is ready to be sent, with its secrets filled in. */
export type OutgoingRequest = {
  url: string
  method: string
  headers: Record<string, string>
  /** Text is sent as UTF-8; null omits the body. */
  body: Buffer | string | null
  /** The time limit from the first DNS packet to the last byte of the response. A process that was blocked adds up to 1 s. */
  timeoutMs: number
}

export type SenderOptions = AddressRules & {
  /** The trusted authorities. Default: the authorities of Node, with TLS 1.2 or newer. */
  secureContext?: SecureContext
  /** For how long a request that cannot start is retried. Default: 3 s. */
  patienceMs?: number
}

/** Is told how a call ended, once: with an outcome, or with a fault of this process. */
export type CallEnds = { onOutcome(outcome: SendOutcome): void; onFault(error: unknown): void }

export type Sender = ReturnType<typeof createSender>

const shortagePauseMs = 250

/** Creates a sender. Every call to an address that a user chose goes through one. */
export function createSender(options: SenderOptions) {
  const { proxy, secureContext, patienceMs = 3_000 } = options
  const dial = proxy ? createTunnelDial(proxy) : undefined
  const client = createHttpClient(createConnect(createAddressGuard(options), secureContext, dial))

  /**
   * Makes one call. Errors of the target are outcomes; a fault is a bug of this process. A call that cannot start,
   * because file descriptors or the proxy are missing, is retried for some seconds. The timeout starts with the last
   * try.
   * @param gate - Decides last whether the call starts. Null: it does.
   */
  function start(request: OutgoingRequest, ends: CallEnds, gate: WriteGate | null): void {
    makeCall(client, toHttpRequest(request, gate), ends, performance.now() + patienceMs)
  }

  return {
    start,
    /** Makes one call as `start` does. `gate`: default null. */
    send: (request: OutgoingRequest, gate: WriteGate | null = null): Promise<SendOutcome> =>
      new Promise((onOutcome, onFault) => start(request, { onOutcome, onFault }, gate)),
    /** Aborts the calls in flight and closes all connections. */
    close: client.close,
  }
}

/** A request. The header lines are names and values, alternating. */
type HttpRequest = ReturnType<typeof toHttpRequest>

function toHttpRequest(
  { url, method, headers, body: data, timeoutMs: timeout }: OutgoingRequest,
  gate: WriteGate | null,
) {
  const names = Object.keys(headers)
  const headerLines: string[] = new Array(names.length * 2)
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? ''
    headerLines[2 * i] = name
    headerLines[2 * i + 1] = headers[name] ?? ''
  }
  return { url, method, headerLines, data, timeout, gate }
}

function makeCall(client: HttpClient, request: HttpRequest, ends: CallEnds, giveUpAt: number): void {
  function fail(error: unknown): void {
    const isOfCall = error instanceof FailedCallError
    const outcome = outcomeOfError(isOfCall ? error.cause : error)
    const isShortage = outcome.kind === 'unsent' && !(isOfCall && error.cause instanceof WithheldError)
    if (isShortage && performance.now() <= giveUpAt) {
      // The request was not sent, so the target does not get a second call. The wait keeps the slot taken, and so
      // limits how often the process runs into the shortage.
      setTimeout(makeCall, shortagePauseMs, client, request, ends, giveUpAt)
    } else if (outcome.kind === 'failure' && isOfCall) {
      ends.onOutcome({ kind: 'failure', code: outcome.code, message: outcome.message, timings: error.timings })
    } else ends.onOutcome(outcome)
  }
  client
    .request(request)
    .then(({ data }) => ends.onOutcome(data), fail)
    .catch(fault => ends.onFault(fault))
}

/** The policy of every HTTP request that leaves Belfry. A request adds its URL, method, headers, body and timeout. */
const httpPolicy = {
  // The target of a redirect was not checked, so a redirect is an outcome like any other.
  maxRedirects: 0,
  // The proxy variables of the environment are ignored. EGRESS_PROXY_URL is used where connections are opened.
  proxy: false,
  // Every status is an outcome.
  validateStatus: null,
  // The signed bytes are sent as they are, and the received bytes are kept as they are.
  transformRequest: [],
  transformResponse: [],
  decompress: false,
  // Bytes of a response's body that are read and kept.
  maxContentLength: 64 * 1024,
} satisfies CreateAxiosDefaults

type HttpClient = ReturnType<typeof createHttpClient>

/** Opens the one HTTP client: axios, with a transport over undici. */
export function createHttpClient(connect: Connect) {
  const { adapter, close } = createUndiciAdapter(connect)
  const client = axios.create({ adapter, ...httpPolicy })
  // axios has defaults, e.g. an Accept header, JSON and XSRF cookies, and would copy them for each request.
  for (const name of Object.keys(client.defaults)) {
    if (name !== 'adapter' && !(name in httpPolicy)) Reflect.deleteProperty(client.defaults, name)
  }
  const send = axios.getAdapter(client.defaults.adapter) as AxiosAdapter
  const { request: ofRequests, response: ofResponses } = client.interceptors
  const headers = new AxiosHeaders()
  return {
    axios: client,
    /**
     * Makes a request by the policy. The instance of axios takes part when it has an interceptor: merging the defaults and walking
     * the interceptors takes 20 µs, a tenth of a delivery.
     */
    request(request: HttpRequest): Promise<AxiosResponse<ResponseOutcome>> {
      if (ofRequests.handlers?.length || ofResponses.handlers?.length) return client.request(request)
      const { url, method, headerLines, data, timeout, gate } = request
      const { maxRedirects, proxy, maxContentLength } = httpPolicy
      return send({ url, method, headerLines, data, timeout, gate, headers, maxRedirects, proxy, maxContentLength })
    },
    close,
  }
}
