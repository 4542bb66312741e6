import { ApiProblem, messageOf } from '../../api/api-problem.ts'

const concurrency = 3
const pauseMs = 1000
const maxRetries = 10

/**
 * Runs an action for each item, a few at a time, and pauses when the API answers 429. Returns how many succeeded and
 * failed, and the first error.
 */
export async function doEach<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
): Promise<{ succeeded: number; failed: number; error: string | null }> {
  const left = [...items]
  let succeeded = 0
  let firstError: string | null = null
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await withRetries(() => act(item as Item)) // not undefined, by the condition of the loop
        succeeded += 1
      } catch (error) {
        firstError ??= messageOf(error)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return { succeeded, failed: items.length - succeeded, error: firstError }
}

async function withRetries(act: () => Promise<unknown>): Promise<void> {
  for (let retries = 0; ; retries += 1) {
    try {
      await act()
      return
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 429) || retries === maxRetries) throw error
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
  }
}
