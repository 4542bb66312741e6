import type { Organization, Workspace } from '@belfry/contract'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { followLog, type LogScope, readLogPage } from '../../api/runs.ts'
import type { Filters } from '../../ui/use-filters.ts'
import { type LogFilter, toLogQuery } from './log-filters.ts'
import { matchesLog } from './matches-log.ts'
import { type LogView, RunLog } from './run-log.ts'

export type ShownLog = {
  log: RunLog
  view: LogView
  scope: LogScope
  query: ReturnType<typeof toLogQuery>
  /** Whether new runs arrive. False if the API rejected the stream. */
  isLive: boolean
  /** The minimum number of new runs that were left out because too many ended at a time. */
  omitted: number
  /** Returns when a run arrived live. */
  arrivedAt(id: string): number | undefined
}

/** Returns the log for the filters in the URL. It loads on scroll and follows new runs. */
export function useRunLog(organization: Organization, workspace: Workspace, filters: Filters<LogFilter>): ShownLog {
  const organizationId = organization.id
  const workspaceId = filters.first('workspace') === 'all' ? null : workspace.id
  const scope = useMemo(() => ({ organizationId, workspaceId }), [organizationId, workspaceId])
  const key = JSON.stringify(filters.values)
  const query = useMemo(() => toLogQuery(JSON.parse(key), new Date()), [key])
  const arrivals = useRef(new Map<string, number>())
  const [isLive, setIsLive] = useState(true)
  const [omitted, setOmitted] = useState(0)

  const log = useMemo(() => {
    const readPage = (cursor: string | undefined, signal: AbortSignal) =>
      readLogPage(scope, { ...query, limit: '100', cursor }, signal)
    return new RunLog({ readPage })
  }, [scope, query])

  useEffect(() => {
    const closed = new AbortController()
    arrivals.current.clear()
    setIsLive(true)
    setOmitted(0)
    void log.readMore()
    const onRun = (run: Parameters<typeof matchesLog>[1]) => {
      if (!matchesLog(query, run)) return
      arrivals.current.set(run.id, performance.now())
      log.add(run)
    }
    const onOmitted = (count: number) => setOmitted(total => total + count)
    followLog(scope, { onRun, onOmitted }, closed.signal).catch(() => setIsLive(false))
    return () => {
      closed.abort()
      log.close()
    }
  }, [log, scope, query])

  const view = useSyncExternalStore(log.subscribe, log.snapshot)
  const arrivedAt = useCallback((id: string) => arrivals.current.get(id), [])
  return { log, view, scope, query, isLive, omitted, arrivedAt }
}
