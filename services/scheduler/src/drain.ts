/**
 * Repeats a step that handles up to `batchSize` rows, until a step handles fewer or the signal is aborted.
 * @returns How many rows were handled in all.
 */
export async function drain(signal: AbortSignal, batchSize: number, step: (batchSize: number) => Promise<number>) {
  let total = 0
  while (!signal.aborted) {
    const handled = await step(batchSize)
    total += handled
    if (handled < batchSize) break
  }
  return total
}

/**
 * Yields the rows of page after page, until a page has fewer than `size` or the signal is aborted.
 * @param read - Returns the next page.
 * @param idOf - Returns the position of a row, after which the next page begins.
 */
export async function* rowsOf<Row>(
  signal: AbortSignal,
  size: number,
  read: (after: string | null, limit: number) => Promise<Row[]>,
  idOf: (row: Row) => string,
): AsyncIterable<Row> {
  let last: Row | undefined
  do {
    const page: Row[] = await read(last === undefined ? null : idOf(last), size)
    for (const row of page) {
      if (signal.aborted) return
      yield row
    }
    last = page.length < size ? undefined : page.at(-1)
  } while (last !== undefined && !signal.aborted)
}

/**
 * Repeats a step for each of some objects, round-robin, until it returns 0 for all. An object whose step fails leaves the round.
 * @returns How much it handled in all.
 * @throws The last error, after the round.
 */
export async function takeTurns<Item>(
  signal: AbortSignal,
  items: readonly Item[],
  step: (item: Item) => Promise<number>,
): Promise<number> {
  let total = 0
  const errors: unknown[] = []
  for (let open = items; open.length > 0; ) {
    const unfinished: Item[] = []
    for (const item of open) {
      if (signal.aborted) return total
      const handled = await step(item).catch(error => {
        errors.push(error)
        return 0
      })
      total += handled
      if (handled > 0) unfinished.push(item)
    }
    open = unfinished
  }
  if (errors.length > 0) throw errors.at(-1)
  return total
}
