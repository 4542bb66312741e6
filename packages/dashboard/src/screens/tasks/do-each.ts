import { ApiProblem, messageOf } from '../../api/api-problem.ts'

const atOnce = 3
const restMs = 1000
const mostRests = 10

/** Does something to each item, a few at a time, and slower when the API asks for it. Tells how many it was done to. */
export async function doEach<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  onProgress: (done: number) => void,
): Promise<{ succeeded: number; refusal: string | null }> {
  const left = [...items]
  let succeeded = 0
  let refusal: string | null = null
  let done = 0
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      try {
        await withRests(() => act(item as Item)) // not undefined, as the loop's condition says
        succeeded += 1
      } catch (error) {
        refusal ??= messageOf(error)
      }
      done += 1
      onProgress(done)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { succeeded, refusal }
}

async function withRests(act: () => Promise<unknown>): Promise<void> {
  for (let rests = 0; ; rests += 1) {
    try {
      await act()
      return
    } catch (error) {
      if (!(error instanceof ApiProblem && error.status === 429) || rests === mostRests) throw error
      await new Promise(resolve => setTimeout(resolve, restMs))
    }
  }
}
