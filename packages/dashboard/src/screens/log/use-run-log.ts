import type { Organization } from '@belfry/contract/organization'
import type { Run } from '@belfry/contract/run'
import type { Workspace } from '@belfry/contract/workspace'
import { matchesRun, parseStatusRange } from '@belfry/domain/run-filter'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import type { Query } from '../../api/call.ts'
import { followLog, readLogPage } from '../../api/runs.ts'
import type { Filters } from '../../ui/filter-bar.tsx'
import { type LogFilter, toLogQuery } from './log-filters.ts'
import { useRangeQuery } from './range-filter.tsx'
import { RunLog } from './run-log.ts'

const showEveryMs = 500
const calmMs = 1000

/** `refused` if the API rejected the stream. */
export type Connection = 'live' | 'connecting' | 'refused'

export type ShownLog = ReturnType<typeof useRunLog>

/** Returns the log for the filters in the URL. It loads on scroll and follows new runs. */
export function useRunLog(organization: Organization, workspace: Workspace, filters: Filters<LogFilter>) {
  const org = organization.id
  const ws = filters.first('workspace') === 'all' ? null : workspace.id
  const scope = useMemo(() => ({ org, ws }), [org, ws])
  const query = useRangeQuery(filters.values, toLogQuery)
  const arrivals = useRef(new Map<string, number>())
  const [connection, setConnection] = useState<Connection>('connecting')
  const [omitted, setOmitted] = useState(0) // at least: too many ended at a time

  const log = useMemo(
    () => new RunLog((cursor, signal) => readLogPage(scope, { ...query, limit: '100', cursor }, signal)),
    [scope, query],
  )

  useEffect(() => {
    const closed = new AbortController()
    arrivals.current.clear()
    setConnection('connecting')
    setOmitted(0)
    void log.readMore()
    // Runs that arrive close together are shown together, and do not flash: each change of the list costs a layout.
    let arrived: Run[] = []
    let shownAt = Number.NEGATIVE_INFINITY
    let timer: ReturnType<typeof setTimeout> | undefined
    const show = () => {
      timer = undefined
      const now = performance.now()
      const isCalm = now - shownAt > calmMs && arrived.length === 1
      shownAt = now
      for (const { id } of isCalm ? arrived : []) arrivals.current.set(id, now)
      log.add(arrived)
      arrived = []
    }
    const onRun = (run: Run) => {
      if (!matchesLog(query, run)) return
      arrived.push(run)
      timer ??= setTimeout(show, Math.max(0, shownAt + showEveryMs - performance.now()))
    }
    const onOmitted = (count: number) => setOmitted(total => total + count)
    const onConnected = (isConnected: boolean) => setConnection(isConnected ? 'live' : 'connecting')
    followLog(scope, { onRun, onOmitted, onConnected }, closed.signal).catch(() => setConnection('refused'))
    return () => {
      clearTimeout(timer)
      closed.abort()
      log.close()
    }
  }, [log, scope, query])

  const view = useSyncExternalStore(log.subscribe, log.snapshot)
  const arrivedAt = useCallback((id: string) => arrivals.current.get(id), [])
  return { log, view, scope, query, connection, omitted, arrivedAt }
}

/** Returns whether a new run matches the query of a log. */
export function matchesLog(query: Query, run: Run): boolean {
  const given = Object.entries(query).map(([name, value]) => [name, [value ?? []].flat().map(String)] as const)
  const { name, late_ms, from, to, ...lists } = Object.fromEntries(given.filter(([, values]) => values.length > 0))
  const filter = {
    ...lists,
    name: name?.[0],
    late_ms: late_ms && Number(late_ms[0]),
    response_status: lists.response_status?.flatMap(text => parseStatusRange(text) ?? []),
    not_response_status: lists.not_response_status?.flatMap(text => parseStatusRange(text) ?? []),
    from: from && new Date(String(from)),
    to: to && new Date(String(to)),
  }
  return matchesRun(filter, run)
}
