import type { Pool } from '@belfry/db'
import { every } from '@belfry/runtime'
import { followRuns, type NewRuns } from './follow-runs.ts'

export type Listener = (news: NewRuns) => void

/** The workspaces whose new runs are watched. */
export type RunTails = {
  /** Calls the listener with new runs until the returned function is called. */
  listen(workspaceId: string, listener: Listener): () => void
}

type Tail = { listeners: Set<Listener>; stop: AbortController }

/** Polls each watched workspace once a second, independent of its number of listeners. */
export function createRunTails(pool: Pool, onError: (error: Error) => void, intervalMs = 1000): RunTails {
  const tails = new Map<string, Tail>()

  function open(workspaceId: string): Tail {
    const tail: Tail = { listeners: new Set(), stop: new AbortController() }
    const poll = followRuns(pool, workspaceId)
    const run = async () => {
      const news = await poll()
      for (const listener of tail.listeners) listener(news)
    }
    void every({ intervalMs, run, onError: error => onError(error as Error) }, tail.stop.signal)
    tails.set(workspaceId, tail)
    return tail
  }

  return {
    listen(workspaceId, listener) {
      const tail = tails.get(workspaceId) ?? open(workspaceId)
      tail.listeners.add(listener)
      return () => {
        tail.listeners.delete(listener)
        if (tail.listeners.size > 0) return
        tail.stop.abort()
        if (tails.get(workspaceId) === tail) tails.delete(workspaceId)
      }
    },
  }
}
