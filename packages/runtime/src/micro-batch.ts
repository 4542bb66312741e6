/** Combines calls that arrive while others are in flight. Each caller gets its own result. */
export type MicroBatch<In, Out> = {
  (item: In): Promise<Out>
  /** The number of unsettled calls. */
  readonly pending: number
}

export type MicroBatchOptions<In, Out> = {
  /** The maximum number of items in one batch. */
  maxSize: number
  /** The maximum number of batches in flight. Below it, an item leaves within the same event-loop iteration. */
  maxInFlight: number
  /** Returns a result for each item, in order. */
  run: (items: In[]) => Promise<Out[]>
  /** Whether to retry the halves of a failed batch. In the end an invalid item then fails alone. */
  split: (error: unknown) => boolean
  /**
   * Under load, after a batch with at least `from` items, the next batch waits for `enough` items, but at most `ms`
   * milliseconds. Default: it never waits.
   */
  gather?: { from: number; enough: number; ms: number }
}

type Waiting<In, Out> = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }

/** Returns a function that batches its calls. It adds no delay when idle; batches grow with the load. */
export function microBatch<In, Out>(options: MicroBatchOptions<In, Out>): MicroBatch<In, Out> {
  const { gather = { from: 0, enough: 0, ms: 0 } } = options
  const queue: Waiting<In, Out>[] = []
  let inFlight = 0
  let pending = 0
  let scheduled = false
  let gathering: NodeJS.Timeout | undefined
  let latest = { size: 0, endedAt: 0 }

  function schedule(): void {
    if (scheduled || queue.length === 0 || inFlight >= options.maxInFlight) return
    if (queue.length < gather.enough && isBusy()) gathering ??= setTimeout(leave, gather.ms)
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
      const batch = queue.splice(0, options.maxSize)
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
      queue.push({ item, resolve, reject })
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
