import type { Pool } from '@belfry/db/postgres/pool'
import { every } from '@belfry/runtime'
import { followRuns, type NewRuns } from './follow-runs.ts'

export type Listener = (news: NewRuns) => void

/** The workspaces whose new runs are watched. */
export type RunTails = {
  /** Calls the listener with new runs until the returned function is called. */
  listen(workspaceId: string, listener: Listener): () => void
}

/** Polls all watched workspaces together once a second, independent of their number and of their listeners. */
export function createRunTails(pool: Pool, onError: (error: Error) => void, intervalMs = 1000): RunTails {
  const listeners = new Map<string, Set<Listener>>()
  let stop: AbortController | undefined

  function start(): AbortController {
    const look = followRuns(pool)
    const run = async () => {
      for (const [workspaceId, news] of await look([...listeners.keys()])) {
        for (const listener of listeners.get(workspaceId) ?? []) listener(news)
      }
    }
    const started = new AbortController()
    void every({ intervalMs, run, onError: error => onError(error as Error) }, started.signal)
    return started
  }

  return {
    listen(workspaceId, listener) {
      const own = listeners.get(workspaceId) ?? new Set()
      listeners.set(workspaceId, own.add(listener))
      stop ??= start()
      return () => {
        own.delete(listener)
        if (own.size === 0 && listeners.get(workspaceId) === own) listeners.delete(workspaceId)
        if (listeners.size > 0) return
        stop?.abort()
        stop = undefined
      }
    },
  }
}
