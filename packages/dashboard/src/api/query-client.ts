import { MutationCache, QueryCache, QueryClient, type QueryObserverOptions } from '@tanstack/react-query'
import { ApiProblem } from './api-problem.ts'
import type { OperationName } from './call.ts'

// A change in one tab shows in the others.
const otherTabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('belfry') : null

type Freshness = Pick<QueryObserverOptions, 'staleTime' | 'refetchInterval' | 'retry'>

/** How queries of operations differ from others, on every screen. */
const freshness: { readonly [Name in OperationName]?: Freshness } = {
  getMe: { staleTime: 60_000 },
  getOrganization: { staleTime: 30_000 },
  listWorkspaces: { staleTime: 30_000 },
  listWorkspaceMembers: { staleTime: 30_000 },
  // A recorded attempt never changes.
  getRun: { staleTime: 'static' },
  previewCronJob: { staleTime: 30_000, retry: false },
  previewInvitation: { retry: false },
  // A banner says within ten seconds that Belfry does not deliver.
  getStatus: { refetchInterval: 3_000, staleTime: 0, retry: false },
  getOverview: { refetchInterval: 5_000 },
  listFailures: { refetchInterval: 5_000 },
  countRunsOverTime: { refetchInterval: 10_000 },
  getUpcoming: { refetchInterval: 10_000 },
  listHosts: { refetchInterval: 5_000 },
  getHost: { refetchInterval: 5_000 },
  listQueues: { refetchInterval: 5_000 },
  getUsage: { refetchInterval: 15_000 },
  getAuditStream: { refetchInterval: 5_000 },
  getTenant: { refetchInterval: 5_000 },
}

/** Creates the query cache. It calls `onSignedOut` when the API answers 401. */
export function createQueryClient(onSignedOut: () => Promise<void>): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.status === 401) void onSignedOut()
  }
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onSuccess: () => otherTabs?.postMessage('changed'),
      onError(error, _variables, _result, { meta }) {
        if (!meta?.isSignIn) onError(error)
      },
    }),
    defaultOptions: {
      // An offline browser can still reach an API on this machine, and a paused query would never show an error.
      queries: {
        staleTime: 10_000,
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: (failures, error) => failures < 2 && isTransient(error),
      },
      mutations: { networkMode: 'always' },
    },
  })
  for (const [name, options] of Object.entries(freshness)) client.setQueryDefaults([name], options)
  otherTabs?.addEventListener('message', () => void client.invalidateQueries())
  return client
}

// Any other error would only repeat.
function isTransient(error: Error): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 503)
}
