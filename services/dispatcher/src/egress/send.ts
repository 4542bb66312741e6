import { setTimeout as sleep } from 'node:timers/promises'
import type { SecureContext } from 'node:tls'
import type { Cidr } from '@belfry/domain'
import { Axios } from 'axios'
import { createConnect } from './connect.ts'
import { createAddressGuard } from './guard-address.ts'
import type { ResponseOutcome, SendOutcome } from './outcome.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import { createOwnListeners, type OwnListeners } from './own-listeners.ts'
import { createResolver, type Resolve } from './resolve-name.ts'
import { createTunnelDial } from './tunnel.ts'
import { createUndiciAdapter } from './undici-adapter.ts'

/** A request, ready to go out: everything is decided, and secrets are filled in. */
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
  /** What may not be called whatever range it lies in. Default: nothing. */
  listeners?: OwnListeners
  /** An HTTP proxy that all connections go through, credentials included. Default: none. */
  proxy?: URL | null
  /** Where names come from. Default: DNS, then the operating system. */
  resolve?: Resolve
  /** Whom TLS trusts. Default: the authorities that Node trusts, with TLS 1.2 or newer. */
  secureContext?: SecureContext
}

export type Sender = {
  /** Makes one call and tells what came of it; nothing that a target does makes it throw. */
  send(request: OutgoingRequest): Promise<SendOutcome>
  /** Gives up the calls in flight and closes all connections. */
  close(): Promise<void>
}

const shortagePatienceMs = 3_000
const shortagePauseMs = 250

/** Opens the one way out: every call to an address that a user chose goes through a sender. */
export function createSender(options: SenderOptions): Sender {
  const { allowedPrivateTargets: allowed, resolve = createResolver(), proxy } = options
  const guard = createAddressGuard({
    allowed,
    resolve,
    listeners: options.listeners ?? createOwnListeners([], resolve),
  })
  const dial = proxy ? createTunnelDial(proxy) : undefined
  const { adapter, close } = createUndiciAdapter(createConnect(guard, options.secureContext, dial))
  // Not axios.create(): its defaults would add headers and rewrite bodies.
  const http = new Axios({ adapter, transformRequest: [], transformResponse: [] })

  async function sendOnce({ url, method, headers, body }: OutgoingRequest, timeout: number): Promise<SendOutcome> {
    const headerLines = Object.entries(headers).flat()
    const data = body === null ? null : Buffer.from(body)
    try {
      return (await http.request<ResponseOutcome>({ url, method, headerLines, data, timeout })).data
    } catch (error) {
      return outcomeOfError(error)
    }
  }

  return {
    async send(request) {
      const startedAt = performance.now()
      for (;;) {
        const elapsedMs = performance.now() - startedAt
        const outcome = await sendOnce(request, Math.ceil(request.timeoutMs - elapsedMs))
        if (outcome.kind !== 'unsent') return outcome
        // Nothing has left, so trying again costs the target nothing. It also keeps the caller's place taken, and with
        // it the pace at which the same shortage is met again.
        const waitedMs = performance.now() - startedAt + shortagePauseMs
        if (waitedMs > Math.min(shortagePatienceMs, request.timeoutMs)) return outcome
        await sleep(shortagePauseMs)
      }
    },
    close,
  }
}
