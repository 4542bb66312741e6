import { startReceiver, type Receiver as Target } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { Client, Receiver } from '@upstash/qstash'
import { afterAll, beforeAll } from 'vitest'
import { type SharedBelfry, useBelfry } from '../belfry.ts'

/** A request that the target has received. */
export type Received = { headers: Record<string, string>; body: Buffer; url: string }

/** A running Belfry with the QStash interface, the published client, and a target. */
export type Stage = {
  belfry: SharedBelfry
  client: Client
  target: Target
  /** The present signing keys of the workspace. */
  keys(): Promise<{ current: string; next: string }>
  /** A receiver that knows the present keys. */
  receiver(): Promise<Receiver>
  /** Waits for requests to a path of the target. */
  received(path: string, count?: number): Promise<Received[]>
  /** Calls the interface without the client. */
  call(
    method: string,
    path: string,
    options?: { headers?: Record<string, string>; body?: string | Buffer },
  ): Promise<Answer>
}

export type Answer = { status: number; headers: Headers; text: string }

/** `belfry` is the installation of the run by default. */
export function useStage(belfry = useBelfry('postgres')): Stage {
  const stage = {} as Stage
  beforeAll(async () => {
    const target = await startReceiver()
    const token = String(belfry.caller.apiKey)
    const client = new Client({ baseUrl: belfry.url, token, retry: false, enableTelemetry: false })
    const call: Stage['call'] = async (method, path, { headers = {}, body } = {}) => {
      const response = await fetch(belfry.url + path, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body: body as string }),
      })
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const keys = async () => JSON.parse((await call('GET', '/v2/keys')).text)
    Object.assign(stage, {
      belfry,
      client,
      target,
      call,
      keys,
      receiver: async () => {
        const { current, next } = await keys()
        return new Receiver({ currentSigningKey: current, nextSigningKey: next })
      },
      received: async (path: string, count = 1) => {
        await waitFor(
          async () => target.requestsTo(path).length,
          length => length >= count,
          20_000,
        )
        return target
          .requestsTo(path)
          .map(({ body, rawHeaders, path: url }) => ({ body, url, headers: toRecord(rawHeaders) }))
      },
    } satisfies Stage)
  })
  afterAll(() => stage.target?.close())
  return stage
}

function toRecord(rawHeaders: readonly string[]): Record<string, string> {
  const pairs = rawHeaders.flatMap((name, i) =>
    i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? ''] as const] : [],
  )
  return Object.fromEntries(pairs)
}
