import { type Receiver, startReceiver } from '@belfry/testing'

export type Behaviour = Extract<Parameters<Receiver['answer']>[1], readonly unknown[]>[number]

/** A call as the target saw it. */
export type Hit = {
  taskId: string
  runId: string
  attempt: number
  /** By the database's clock, in epoch milliseconds. */
  at: number
  /** The status that was answered, or null when the target misbehaved before that. */
  answered: number | null
}

/** The target of a bench: it knows what it answered to each call. */
export type BenchTarget = {
  url(path: string): string
  /** Says how a path answers: always the same, or one after another, the last again and again. */
  answer(path: string, behaviours: readonly Behaviour[]): void
  count(path?: string): number
  /** Resolves when a path has been called this often. */
  reached(path: string, count: number, timeoutMs?: number): Promise<void>
  /** What it has seen. @param clockOffsetMs - What to add to this process's monotonic clock to get the database's. */
  hits(clockOffsetMs: number): Hit[]
  close(): Promise<void>
}

export async function startBenchTarget(): Promise<BenchTarget> {
  const receiver = await startReceiver()
  const scripts = new Map<string, readonly Behaviour[]>()
  return {
    url: path => receiver.url(path),
    answer(path, behaviours) {
      scripts.set(path, behaviours)
      receiver.answer(path, [...behaviours])
    },
    count: path => (path === undefined ? receiver.requests.length : receiver.requestsTo(path).length),
    async reached(path, count, timeoutMs = 60_000) {
      await receiver.waitFor(requests => requests.filter(request => request.path === path).length >= count, timeoutMs)
    },
    hits(clockOffsetMs) {
      const seen = new Map<string, number>()
      return receiver.requests.map(request => {
        const nth = seen.get(request.path) ?? 0
        seen.set(request.path, nth + 1)
        const header = headerOf(request.rawHeaders)
        return {
          taskId: header('webhook-id'),
          runId: header('x-belfry-run-id'),
          attempt: Number(header('x-belfry-attempt')),
          at: request.receivedAt - performance.timeOrigin + clockOffsetMs,
          answered: statusOf(scripts.get(request.path) ?? [], nth),
        }
      })
    },
    close: () => receiver.close(),
  }
}

// These begin with a good status line and misbehave after it.
const statusFirst = ['hang_in_body', 'endless_body', 'close_in_body']

function headerOf(rawHeaders: string[]): (name: string) => string {
  const headers = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2)
    headers.set((rawHeaders[i] ?? '').toLowerCase(), rawHeaders[i + 1] ?? '')
  return name => headers.get(name) ?? ''
}

function statusOf(script: readonly Behaviour[], nth: number): number | null {
  const behaviour = script[Math.min(nth, script.length - 1)] ?? {}
  if (!('does' in behaviour)) return behaviour.status ?? 200
  return statusFirst.includes(behaviour.does) ? 200 : null
}
