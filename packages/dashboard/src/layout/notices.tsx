import { queryOptions, useQuery } from '@tanstack/react-query'
import { ApiProblem } from '../api/api-problem.ts'
import { read } from '../api/call.ts'
import { queryOf } from '../api/queries.ts'
import { latePart } from '../ui/late-part.tsx'
import { Banner } from './banner.tsx'

const NoticeList = latePart(async () => (await import('./notice-list.tsx')).NoticeList)

/** Says on every page of a workspace what keeps its tasks from running, or that Belfry does not answer. */
export function Notices({ workspaceId }: { workspaceId: string }) {
  const { data, error } = useQuery(statusQuery(workspaceId))
  const outage = error instanceof ApiProblem ? outages[error.status] : undefined
  return (
    <div role="status">
      {outage && <Banner tone="bad">{outage}</Banner>}
      {!error && data && data.notices.length > 0 && (
        <NoticeList key={workspaceId} workspaceId={workspaceId} notices={data.notices} />
      )}
    </div>
  )
}

// No script can be loaded then.
const outages: Readonly<Record<number, string>> = {
  0: 'Belfry cannot be reached. This page is not up to date.',
  503: 'The database is unavailable. Stored tasks are safe and will be sent when it returns.',
}

const maxWaitMs = 5000

/** Returns options for `useQuery`: whether Belfry delivers. Without an answer, the API counts as unreachable. */
export function statusQuery(ws = '') {
  return queryOptions({
    ...queryOf('getStatus', { ws }),
    queryFn: ({ signal }) => {
      const timeout = AbortSignal.timeout(maxWaitMs)
      return read('getStatus', { ws, signal: AbortSignal.any([signal, timeout]) }).catch((error: unknown) => {
        throw timeout.aborted && !signal.aborted ? new ApiProblem(0, {}) : error
      })
    },
    enabled: ws !== '',
  })
}
