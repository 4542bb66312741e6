import type { Page } from '@belfry/contract/page'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type Args, type OperationName, type Query, type Result, read } from './call.ts'

type ListName = { [Name in OperationName]: Result<Name> extends Page<unknown> ? Name : never }[OperationName]

type Item<Name extends ListName> = Result<Name>['data'][number]

// Requests that one page may take. With a selective filter a page of the API may be empty although there is a next one.
const maxReads = 10

/** Returns options for `useQuery`: the response of an operation. */
export function queryOf<Name extends OperationName>(name: Name, ...args: Args<Name>) {
  return queryOptions({
    queryKey: [name, args[0]],
    queryFn: ({ signal }) => read(name, ...extended(args, { signal })),
  })
}

/** Returns options for `useInfiniteQuery` of a list. `data.items` holds the items loaded so far. */
export function pagesOf<Name extends ListName>(name: Name, ...args: Args<Name>) {
  return infiniteQueryOptions({
    queryKey: [name, args[0], 'pages'],
    async queryFn({ pageParam, signal }) {
      let page: Page<Item<Name>> = { data: [], next_cursor: pageParam ?? null }
      for (let reads = 0; page.data.length === 0 && reads < maxReads; reads += 1) {
        page = await read(name, ...extended(args, { signal, query: { cursor: page.next_cursor } }))
        if (page.next_cursor === null) break
      }
      return page
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: page => page.next_cursor ?? undefined,
    select: ({ pages }) => ({ items: pages.flatMap(page => page.data) }),
  })
}

/** Returns options for `useQuery` of a short list: all of its items. */
export function allOf<Name extends ListName>(name: Name, ...args: Args<Name>) {
  return queryOptions({
    queryKey: [name, args[0], 'all'],
    async queryFn({ signal }) {
      const all: Item<Name>[] = []
      let cursor: string | null = null
      do {
        const page: Page<Item<Name>> = await read(name, ...extended(args, { signal, query: { limit: 100, cursor } }))
        all.push(...page.data)
        cursor = page.next_cursor
      } while (cursor !== null)
      return all
    },
  })
}

function extended<Name extends OperationName>(
  [input]: Args<Name>,
  { signal, query }: { signal: AbortSignal; query?: Query },
): Args<Name> {
  const given = input as { query?: Query } | undefined
  return [{ ...given, signal, query: { ...given?.query, ...query } }] as unknown as Args<Name> // the same members
}
