export type Batch<Item> = { push(item: Item): void }

/**
 * After a batch with at least `from` items, the next batch waits for `enough` items, but at most `ms` milliseconds. It does
 * not wait when it comes later than that.
 */
export type Gather = { from: number; enough: number; ms: number }

export type MicroBatchOptions<Item, Out> = {
  maxSize: number
  /** The maximum number of batches in flight. Below it, an item leaves within the same event-loop iteration. */
  maxInFlight: number
  /** Returns a result for each item, in order. */
  run: (items: Item[]) => Promise<Out[]>
  /** Whether to retry the halves of a failed batch. In the end an invalid item then fails alone. */
  split: (error: unknown) => boolean
  /** How a batch waits for more items, smallest `from` first. Default: it never waits. */
  gather?: readonly Gather[]
  /** Whether an item must not wait for others. Waiting items leave with it. Default: false. */
  isUrgent?: (item: Item) => boolean
}

/** `settle` receives the result of each item, or `fail` its error. They must not throw. */
export type BatchOptions<Item, Out> = MicroBatchOptions<Item, Out> & {
  settle: (item: Item, out: Out) => void
  fail: (item: Item, error: unknown) => void
}

/** Opens a batch. An idle batch starts without delay, and batches grow with the load. It does not allocate per item. */
export function openBatch<Item, Out>(options: BatchOptions<Item, Out>): Batch<Item> {
  const { maxSize, maxInFlight, gather = [], isUrgent = () => false } = options
  let queue: Item[] = []
  let inFlight = 0
  let scheduled = false
  let hasUrgent = false
  let gathering: NodeJS.Timeout | undefined
  let rule: Gather | undefined
  let endedAt = 0

  function schedule(): void {
    if (scheduled || queue.length === 0 || inFlight >= maxInFlight) return
    const ms = hasUrgent ? 0 : patienceMs()
    if (ms > 0) gathering ??= setTimeout(leave, ms)
    else leave()
  }

  function patienceMs(): number {
    if (!rule || queue.length >= rule.enough || performance.now() - endedAt >= rule.ms) return 0
    return rule.ms
  }

  function leave(): void {
    clearTimeout(gathering)
    gathering = undefined
    scheduled = true
    setImmediate(start)
  }

  function start(): void {
    scheduled = false
    const batch = queue.length <= maxSize ? queue : queue.slice(0, maxSize)
    queue = queue.slice(batch.length)
    hasUrgent &&= queue.length > 0
    inFlight++
    void runBatch(batch, options).finally(() => {
      inFlight--
      rule = gather.findLast(({ from }) => batch.length >= from)
      endedAt = performance.now()
      schedule()
    })
    schedule()
  }

  return {
    push(item) {
      queue.push(item)
      hasUrgent ||= isUrgent(item)
      schedule()
    },
  }
}

async function runBatch<Item, Out>(batch: Item[], options: BatchOptions<Item, Out>): Promise<void> {
  let results: Out[]
  try {
    results = await options.run(batch)
  } catch (error) {
    if (batch.length === 1 || !options.split(error)) {
      for (const item of batch) options.fail(item, error)
      return
    }
    const middle = Math.ceil(batch.length / 2)
    await runBatch(batch.slice(0, middle), options)
    await runBatch(batch.slice(middle), options)
    return
  }
  for (let i = 0; i < batch.length; i++) options.settle(batch[i] as Item, results[i] as Out) // run answers each item
}

/** A batch as a function: each caller gets the result of its item. */
export type MicroBatch<In, Out> = (item: In) => Promise<Out>

/** Returns a function that batches its calls, as `openBatch` does. */
export function microBatch<In, Out>({
  run,
  ...options
}: Omit<MicroBatchOptions<In, Out>, 'isUrgent'>): MicroBatch<In, Out> {
  type Call = { item: In; resolve: (out: Out) => void; reject: (error: unknown) => void }
  const batch = openBatch<Call, Out>({
    run: calls => run(calls.map(({ item }) => item)),
    settle: ({ resolve }, out) => resolve(out),
    fail: ({ reject }, error) => reject(error),
    ...options,
  })
  return item => new Promise((resolve, reject) => batch.push({ item, resolve, reject }))
}
