import type { Page } from '@belfry/contract'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { type CallOptions, call } from './call.ts'

export type ListQuery = NonNullable<CallOptions['query']>

/** Returns options for `useInfiniteQuery`. `data.items` holds the items loaded so far. */
export function listOptions<T>(key: readonly unknown[], path: string, query: ListQuery = {}, workspaceId?: string) {
  return infiniteQueryOptions({
    queryKey: [...key, query],
    queryFn: ({ pageParam, signal }) =>
      call<Page<T>>('GET', path, { query: { ...query, cursor: pageParam }, workspaceId, signal }),
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
