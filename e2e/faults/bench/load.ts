import type { Bench, CreateAnswer, TaskSpec } from './bench.ts'

export type LoadOptions = {
  /** Default 120. */
  tasks?: number
  /** When the first is due, from now. Default 2,500. */
  startInMs?: number
  /** Over what time their instants are spread. Default 8,000. */
  spreadMs?: number
  /** Which tasks misbehave and how. Default 1. */
  seed?: number
  /** Whether some of them fail; where many do, their host rests. Default true. */
  someFail?: boolean
}

const callsAtOnce = 12

/**
 * Creates tasks of two workspaces through the API. Of ten, one fails once, one fails always (and has two retries), and
 * one is slow; the others are answered with 200 at once.
 */
export async function load(bench: Bench, options: LoadOptions = {}): Promise<CreateAnswer[]> {
  const { tasks = 120, startInMs = 2_500, spreadMs = 8_000, seed = 1, someFail = true } = options
  const random = createRandom(seed)
  const prefix = `/load-${bench.creates.length}`
  const beganAt = Date.now()
  const specs = Array.from({ length: tasks }, (_, i) => specOf(`${prefix}-${i}`, i, random, someFail))
  const answers: CreateAnswer[] = []
  const creators = Array.from({ length: callsAtOnce }, async (_, lane) => {
    for (let i = lane; i < tasks; i += callsAtOnce) {
      const spec = specs[i]
      if (!spec) return
      const dueAt = beganAt + startInMs + (spreadMs * i) / tasks
      answers.push(await bench.create({ ...spec, inMs: Math.max(1_000, dueAt - Date.now()) }))
    }
  })
  await Promise.all(creators)
  return answers
}

/** Makes the i-th task of a load. */
export function specOf(path: string, i: number, random: () => number, mayFail = true): TaskSpec {
  const caller = i % 2 === 0 ? 0 : 1
  const kind = Math.floor(random() * 10)
  if (kind < 2 && !mayFail) return { path, caller }
  if (kind === 0) return { path, caller, answers: [{ status: 500 }, { status: 200 }] }
  if (kind === 1) return { path, caller, answers: [{ status: 500 }], maxRetries: 2 }
  if (kind === 2) return { path, caller, answers: [{ status: 200, delayMs: 200 + Math.floor(random() * 500) }] }
  return { path, caller }
}

/** Makes a generator of numbers in [0, 1) that repeats itself with the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
