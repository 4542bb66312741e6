import { setTimeout as sleep } from 'node:timers/promises'
import type { SecureContext } from 'node:tls'
import type { Cidr } from '@belfry/domain'
import { createConnect } from './connect.ts'
import { createAddressGuard } from './guard-address.ts'
import { createHttpClient, type HttpClient } from './http-client.ts'
import type { ResponseOutcome, SendOutcome } from './outcome.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import { createOwnListeners, type OwnListeners } from './own-listeners.ts'
import { createResolver, type Resolve } from './resolve-name.ts'
import { createTunnelDial } from './tunnel.ts'

/** A request, ready to go out: everything is decided, and secrets are filled in. */
export type OutgoingRequest = {
  url: string
  method: string
  headers: Record<string, string>
  /** Text goes out as its UTF-8 bytes; null sends none. */
  body: Buffer | string | null
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
  /** For how long a request that cannot even begin is tried. Default: 3 s. */
  patienceMs?: number
}

export type Sender = {
  /**
   * Makes one call and tells what came of it; nothing that a target does makes it throw. What cannot even begin, for
   * want of something on our side, is tried for some seconds before the time of the request counts.
   */
  send(request: OutgoingRequest): Promise<SendOutcome>
  /** Gives up the calls in flight and closes all connections. */
  close(): Promise<void>
}

const shortagePauseMs = 250

/** Opens the one way out: every call to an address that a user chose goes through a sender. */
export function createSender(options: SenderOptions): Sender {
  const { allowedPrivateTargets: allowed, resolve = createResolver(), proxy, patienceMs = 3_000 } = options
  const guard = createAddressGuard({
    allowed,
    resolve,
    listeners: options.listeners ?? createOwnListeners([], resolve),
  })
  const dial = proxy ? createTunnelDial(proxy) : undefined
  const client = createHttpClient(createConnect(guard, options.secureContext, dial))

  return {
    async send(request) {
      const giveUpAt = performance.now() + patienceMs
      for (;;) {
        const outcome = await call(client, request)
        if (outcome.kind !== 'unsent' || performance.now() > giveUpAt) return outcome
        // Nothing has left, so it is no second try for the target, which still gets all of its time. Waiting also keeps
        // the caller's place taken, and with it bounds the pace at which a shortage is met again.
        await sleep(shortagePauseMs)
      }
    },
    close: client.close,
  }
}

async function call(client: HttpClient, request: OutgoingRequest): Promise<SendOutcome> {
  const { url, method, headers, body, timeoutMs } = request
  const headerLines: string[] = []
  for (const name of Object.keys(headers)) headerLines.push(name, headers[name] ?? '')
  try {
    const config = { url, method, headerLines, data: body, timeout: timeoutMs }
    return (await client.request<ResponseOutcome>(config)).data
  } catch (error) {
    return outcomeOfError(error)
  }
}
