import { Belfry } from '@belfry/client'
import { installVirtualDate, machineTime, setVirtualTime } from '@belfry/runtime/virtual-time'
import { openClock, type TestClock } from './clock.ts'
import { takeLease } from './lease.ts'
import { type Answer, type ReceivedCall, startReceiver } from './receiver.ts'

/** A Belfry for a test file: an empty workspace, a receiver, and a clock. */
export type TestBelfry = {
  /** A client of the workspace. After `reset` it is another one. */
  readonly client: Belfry
  readonly url: string
  readonly apiKey: string
  /** The environment of an app that makes its own client. */
  readonly env: { BELFRY_URL: string; BELFRY_API_KEY: string }
  clock: TestClock
  /**
   * Moves the clock until only cron jobs wait: all scheduled calls with all their retries are made, at most a year ahead.
   */
  untilIdle(): Promise<Date>
  /** Returns the URL of a path of the receiver. */
  hook(path: string): string
  /** Every call that the receiver got, in order. */
  readonly calls: readonly ReceivedCall[]
  /**
   * Returns the next call of a path: each call once, in order. Waits for it.
   * @param timeoutMs - Default: 5 seconds, of real time.
   */
  received(path: string, timeoutMs?: number): Promise<ReceivedCall>
  /** Sets what the receiver answers to a path: the answers in order, of which the last one repeats. Default: 200. */
  reply(path: string, ...answers: [Answer, ...Answer[]]): void
  /** Begins anew: an empty workspace, the time of the machine, no calls and no answers. */
  reset(): Promise<void>
  /** Returns the server, for the next test file. The end of the process does so too. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type TestBelfryOptions = {
  /**
   * Whether `Date` of this process shows the time of the server, once a test has moved its clock. App code that asks for the
   * time needs it, and so do `delay` and `webhooks.verify` of the client. Default: true.
   */
  movesDate?: boolean
}

/**
 * Starts a Belfry for tests, or takes the one of an earlier test file. Two of them never share a server, so test
 * files may run in parallel.
 */
export async function startBelfry({ movesDate = true }: TestBelfryOptions = {}): Promise<TestBelfry> {
  const { lease, workspace } = await takeLease()
  const { runUntilIdle, ...clock } = openClock(workspace.url, movesDate ? followClock() : () => {})
  const receiver = await startReceiver(movesDate ? clock.now : async () => {})
  let current = workspace
  let client = clientOf(current)
  const stop = async () => {
    lease.release()
    receiver.close()
    restoreDate()
  }
  return {
    get client() {
      return client
    },
    get url() {
      return current.url
    },
    get apiKey() {
      return current.apiKey
    },
    get env() {
      return { BELFRY_URL: current.url, BELFRY_API_KEY: current.apiKey }
    },
    clock,
    untilIdle: runUntilIdle,
    hook: receiver.url,
    calls: receiver.calls,
    received: (path, timeoutMs = 5_000) => receiver.received(path, timeoutMs),
    reply: (path, ...answers) => receiver.answer(path, answers),
    async reset() {
      current = await lease.renew()
      client = clientOf(current)
      receiver.clear()
      restoreDate()
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function clientOf({ url: baseUrl, apiKey }: { url: string; apiKey: string }): Belfry {
  return new Belfry({ baseUrl, apiKey })
}

let isInstalled = false

// The fake timers of a test runner replace `Date` too, so it is replaced only when a test needs it.
function followClock(): (reading: { now: number; isFrozen: boolean }) => void {
  return ({ now, isFrozen }) => {
    if (!isInstalled) installVirtualDate()
    isInstalled = true
    setVirtualTime({ frozenAt: isFrozen ? now : null, shiftMs: now - machineTime() })
  }
}

function restoreDate(): void {
  setVirtualTime({ frozenAt: null, shiftMs: 0 })
}
