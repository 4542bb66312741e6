import type { Page } from '@belfry/contract/page'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
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

/** Returns options for `useQuery` of one object. */
export function objectOptions<T>(key: readonly unknown[], path: string, workspaceId?: string, query: ListQuery = {}) {
  return queryOptions({
    queryKey: key,
    queryFn: ({ signal }) => call<T>('GET', path, { query, workspaceId, signal }),
  })
}

/** Returns options for `useQuery` of a short list: all of its pages. */
export function allOptions<T>(key: readonly unknown[], path: string, workspaceId?: string) {
  return queryOptions({
    queryKey: key,
    async queryFn({ signal }) {
      const all: T[] = []
      let cursor: string | undefined
      do {
        const page: Page<T> = await call('GET', path, { query: { limit: 100, cursor }, workspaceId, signal })
        all.push(...page.data)
        cursor = page.next_cursor ?? undefined
      } while (cursor)
      return all
    },
  })
}
