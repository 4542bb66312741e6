import type { Page } from '@belfry/contract/page'
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { type Args, type OperationName, type Query, type Result, read } from './call.ts'

type ListName = { [Name in OperationName]: Result<Name> extends Page<unknown> ? Name : never }[OperationName]

type Item<Name extends ListName> = Result<Name>['data'][number]

// Requests that one page may take. With a selective filter a page of the API may be empty although there is a next one.
const maxReads = 10

// Their earlier response stays until that to a changed query arrives.
const kept = new Set<OperationName>(['previewCronJob', 'getOverview', 'listFailures', 'countRunsOverTime', 'search'])

/** Returns options for `useQuery`: the response of an operation. */
export function queryOf<Name extends OperationName>(name: Name, ...args: Args<Name>) {
  return queryOptions({
    queryKey: [name, args[0]],
    queryFn: ({ signal }) => read(name, ...extended(args, { signal })),
    ...(kept.has(name) ? { placeholderData: keepWithin(Object(args[0]).ws) } : {}),
  })
}

/** Returns the placeholder of a query about a workspace: the data of the query before, unless that was about another one. */
export function keepWithin(ws: string) {
  return <Data>(data: Data | undefined, before: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    Object(before?.queryKey[1]).ws === ws ? data : undefined
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

// Of 100 items each.
const firstPages = 10

/** Returns options for `useQuery` of what a question is about: the first 1,000 items of a list, as they are when it is asked. */
export function firstOf<Name extends ListName>(name: Name, ...args: Args<Name>) {
  return queryOptions({
    queryKey: [name, args[0], 'first'],
    queryFn: ({ signal }) => readPages(name, args, signal, firstPages),
    staleTime: 'static', // the question stays while it is answered
    gcTime: 0,
  })
}

/** Returns options for `useQuery` of a short list: all of its items. */
export function allOf<Name extends ListName>(name: Name, ...args: Args<Name>) {
  return queryOptions({
    queryKey: [name, args[0], 'all'],
    queryFn: async ({ signal }) => (await readPages(name, args, signal)).items,
  })
}

async function readPages<Name extends ListName>(
  name: Name,
  args: Args<Name>,
  signal: AbortSignal,
  maxPages = Number.POSITIVE_INFINITY,
) {
  const items: Item<Name>[] = []
  let cursor: string | null = null
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Item<Name>> = await read(name, ...extended(args, { signal, query: { limit: 100, cursor } }))
    items.push(...page.data)
    cursor = page.next_cursor
    if (cursor === null) break
  }
  return { items, hasMore: cursor !== null }
}

function extended<Name extends OperationName>(
  [input]: Args<Name>,
  { signal, query }: { signal: AbortSignal; query?: Query },
): Args<Name> {
  const given = input as { query?: Query } | undefined
  return [{ ...given, signal, query: { ...given?.query, ...query } }] as unknown as Args<Name> // the same members
}
