import type { DeadLetterOperation } from '@belfry/contract/bulk-operation'
import type { Page } from '@belfry/contract/page'
import type { Task } from '@belfry/contract/task'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { type ListQuery, listOptions } from './page.ts'

const base = '/api/v1/scheduler/dead-letters'

export type DeadLetterAction = 'replay' | 'discard'

export type DeadLetterFilter = {
  cronjob_id?: string
  topic?: string
  name?: string
  host?: readonly string[]
  error?: readonly string[]
  from?: string
  to?: string
}

/** Selects dead letters by id, or all that match a filter. */
export type DeadLetterSelection = { ids: readonly string[] } | { filter: DeadLetterFilter }

/** `per_second`: how many replays are due per second, instead of all at once. */
export type Pace = { per_second?: number }

/** How many were settled immediately, and the background operation that settles the rest. */
export type Settled = { count: number; operation: DeadLetterOperation | null }

export function deadLettersQuery(workspaceId: string, query: ListQuery = {}) {
  return listOptions<Task>(['dead-letters', workspaceId], base, query, workspaceId)
}

// Pages of 100 that a confirmation reads to show what it is about.
const maxPages = 10

/** Queries the dead letters that a filter selects, up to 1,000. */
export function deadLettersToSettleQuery(workspaceId: string, filter: ListQuery) {
  return queryOptions({
    queryKey: ['dead-letters', workspaceId, 'to settle', filter],
    async queryFn({ signal }) {
      const tasks: Task[] = []
      let cursor: string | undefined
      for (let reads = 0; reads < maxPages; reads += 1) {
        const query = { ...filter, limit: 100, cursor }
        const page: Page<Task> = await call('GET', base, { query, workspaceId, signal })
        tasks.push(...page.data)
        cursor = page.next_cursor ?? undefined
        if (!cursor) break
      }
      return { tasks, hasMore: cursor !== undefined }
    },
    staleTime: 0,
  })
}

export async function settleDeadLetters(
  workspaceId: string,
  action: DeadLetterAction,
  body: DeadLetterSelection & Pace,
): Promise<Settled> {
  type Counts = { replayed?: number; discarded?: number; operation: DeadLetterOperation | null }
  const { replayed, discarded, operation } = await call<Counts>('POST', `${base}/${action}`, { body, workspaceId })
  return { count: replayed ?? discarded ?? 0, operation }
}
