/** Gathers calls that arrive while others are under way and makes them together. Each caller gets its own answer. */
export type MicroBatch<In, Out> = {
  (item: In): Promise<Out>
  /** Calls that have not been answered yet. */
  readonly pending: number
}

export type MicroBatchOptions<In, Out> = {
  /** Items in one call at most. */
  maxSize: number
  /** Calls under way at a time; while there are fewer, an item leaves within the same turn of the event loop. */
  maxInFlight: number
  /** Answers each item, in order. */
  run: (items: In[]) => Promise<Out[]>
  /** When a call with several items failed: whether to try each half of them, so that in the end a bad one fails alone. */
  split: (error: unknown) => boolean
  /**
   * Under load, when a call with so many items has just ended, the next one waits until there are `enough` of them, or for
   * so many milliseconds. Default: it never waits.
   */
  gather?: { from: number; enough: number; ms: number }
}

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }

/** Makes a micro-batch. It adds no wait when idle, and grows with the load by itself. */
export function microBatch<In, Out>(options: MicroBatchOptions<In, Out>): MicroBatch<In, Out> {
  const { gather = { from: 0, enough: 0, ms: 0 } } = options
  const line: Waiting<In, Out>[] = []
  let inFlight = 0
  let pending = 0
  let scheduled = false
  let gathering: NodeJS.Timeout | undefined
  let latest = { size: 0, endedAt: 0 }

  function schedule(): void {
    if (scheduled || line.length === 0 || inFlight >= options.maxInFlight) return
    if (line.length < gather.enough && isBusy()) gathering ??= setTimeout(leave, gather.ms)
    else leave()
  }

  function isBusy(): boolean {
    return latest.size >= gather.from && performance.now() - latest.endedAt < gather.ms
  }

  function leave(): void {
    clearTimeout(gathering)
    gathering = undefined
    scheduled = true
    setImmediate(() => {
      scheduled = false
      const batch = line.splice(0, options.maxSize)
      inFlight++
      void settle(batch, options).finally(() => {
        inFlight--
        pending -= batch.length
        latest = { size: batch.length, endedAt: performance.now() }
        schedule()
      })
      schedule()
    })
  }

  const call = (item: In) =>
    new Promise<Out>((resolve, reject) => {
      line.push({ item, resolve, reject })
      pending++
      schedule()
    })
  return Object.defineProperty(call, 'pending', { get: () => pending }) as MicroBatch<In, Out>
}

async function settle<In, Out>(batch: Waiting<In, Out>[], options: MicroBatchOptions<In, Out>): Promise<void> {
  try {
    const answers = await options.run(batch.map(({ item }) => item))
    batch.forEach(({ resolve }, index) => {
      resolve(answers[index] as Out) // run answers each item
    })
  } catch (error) {
    if (batch.length === 1 || !options.split(error)) {
      for (const { reject } of batch) reject(error)
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await settle(batch.slice(0, middle), options)
    await settle(batch.slice(middle), options)
  }
}
