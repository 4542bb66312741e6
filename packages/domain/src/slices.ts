/** Work that yields where it may be interrupted, at least every millisecond. */
export type Slices<T> = Generator<undefined, T>

const sliceMs = 2

type Job = { work: Slices<unknown>; resolve: (value: unknown) => void; reject: (error: unknown) => void }

const jobs: Job[] = []

/**
 * Does work in slices. All such work together takes 2 ms of an event-loop iteration. The jobs take turns, so a short one does
 * not wait for the end of a long one.
 */
export function inSlices<T>(work: Slices<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    jobs.push({ work, resolve: resolve as Job['resolve'], reject })
    if (jobs.length === 1) setImmediate(runSlice)
  })
}

/** Does work in one slice, after all slices that wait before it. */
export function inTurn<T>(run: () => T): Promise<T> {
  return inSlices(inOneSlice(run))
}

// biome-ignore lint/correctness/useYield: it is one slice
function* inOneSlice<T>(run: () => T): Slices<T> {
  return run()
}

function runSlice(): void {
  const endsAt = performance.now() + sliceMs
  do {
    const job = jobs[0]
    if (!job) return
    try {
      const { done, value } = job.work.next()
      if (done) job.resolve(value)
      else jobs.push(job)
    } catch (error) {
      job.reject(error)
    }
    jobs.shift()
  } while (performance.now() < endsAt)
  if (jobs.length > 0) setImmediate(runSlice)
}

/** Maps a long list, one item after the other. Every 2 ms it lets the process do other work. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let endsAt = performance.now() + sliceMs
  for (const [index, item] of items.entries()) {
    results.push(await map(item, index))
    if (performance.now() < endsAt) continue
    await new Promise(resolve => void setImmediate(resolve))
    endsAt = performance.now() + sliceMs
  }
  return results
}
