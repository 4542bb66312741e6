import type { Page } from '@belfry/contract/page'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { type CallOptions, call } from './call.ts'

// Requests that one page may take. With a selective filter a page of the API may be empty although there is a next one.
const maxReads = 10

export type ListQuery = NonNullable<CallOptions['query']>

/** Returns options for `useInfiniteQuery`. `data.items` holds the items loaded so far. */
export function listOptions<T>(key: readonly unknown[], path: string, query: ListQuery = {}, workspaceId?: string) {
  return infiniteQueryOptions({
    queryKey: [...key, query],
    async queryFn({ pageParam, signal }) {
      let page: Page<T> = { data: [], next_cursor: pageParam ?? null }
      for (let reads = 0; page.data.length === 0 && reads < maxReads; reads += 1) {
        const cursor = page.next_cursor ?? undefined
        page = await call<Page<T>>('GET', path, { query: { ...query, cursor }, workspaceId, signal })
        if (page.next_cursor === null) break
      }
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(page => page.data) }),
  })
}

/** Reads all pages of a short list. */
export async function readAll<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  do {
    const page: Page<T> = await call('GET', path, { query: { limit: 100, cursor }, signal })
    all.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return all
}
