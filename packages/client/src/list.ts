import { BelfryError } from './errors.ts'
import type { Http } from './http.ts'
import type { RequestOptions } from './options.ts'
import type { Page } from './types/index.ts'

/**
 * A list: `for await (const item of list)` iterates over all items, page by page; `await list` returns the first page
 * (`{ data, nextCursor }`), as `then`, `catch` and `finally` do.
 */
export type List<T, P extends Page<T> = Page<T>> = AsyncIterable<T> & Pick<Promise<P>, 'then' | 'catch' | 'finally'>

/** Returns a lazy list: it sends its first request when it is awaited or iterated. */
export function list<T, P extends Page<T> = Page<T>>(
  http: Http,
  path: string,
  query: object,
  options?: RequestOptions,
): List<T, P> {
  async function page(cursor?: string): Promise<P> {
    const answer = await http.get<P>(path, options, { ...query, ...(cursor ? { cursor } : {}) })
    if (Array.isArray(answer?.data)) return answer
    throw new BelfryError(`The response to GET ${path} is not a page of Belfry. Is baseUrl the URL of Belfry?`)
  }
  let first: Promise<P> | undefined
  const firstPage = () => (first ??= page())
  return {
    // biome-ignore lint/suspicious/noThenProperty: awaiting a list returns one page
    then: (resolve, reject) => firstPage().then(resolve, reject),
    catch: reject => firstPage().catch(reject),
    finally: action => firstPage().finally(action),
    async *[Symbol.asyncIterator]() {
      for (let current = await firstPage(); ; current = await page(current.nextCursor)) {
        yield* current.data
        if (current.nextCursor === null) return
      }
    },
  }
}
