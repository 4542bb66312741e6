import type { Http } from './http.ts'
import type { RequestOptions } from './options.ts'
import type { Page } from './types.ts'

/**
 * A list: `for await (const item of list)` iterates over all items, page by page; `await list` returns the first page
 * (`{ data, nextCursor }`).
 */
export type List<T> = AsyncIterable<T> & PromiseLike<Page<T>>

/** Returns a list, which sends its first request when it is used. */
export function list<T>(http: Http, path: string, query: object, options?: RequestOptions): List<T> {
  const page = (cursor?: string) =>
    http.json<Page<T>>({ method: 'GET', path, query: { ...query, ...(cursor ? { cursor } : {}) }, options })
  let first: Promise<Page<T>> | undefined
  const firstPage = () => (first ??= page())
  return {
    // biome-ignore lint/suspicious/noThenProperty: awaiting a list returns one page
    then: (resolve, reject) => firstPage().then(resolve, reject),
    async *[Symbol.asyncIterator]() {
      for (let current = await firstPage(); ; current = await page(current.nextCursor)) {
        yield* current.data
        if (current.nextCursor === null) return
      }
    },
  }
}
