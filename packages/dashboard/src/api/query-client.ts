import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api-problem.ts'

// A change in one tab shows in the others.
const otherTabs = 'BroadcastChannel' in globalThis ? new BroadcastChannel('belfry') : null

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
      // The browser's view of the network says nothing about an API on this machine, and a paused query has no error.
      queries: {
        staleTime: 10_000,
        networkMode: 'always',
        refetchOnReconnect: true,
        retry: (failures, error) => failures < 2 && isTransient(error),
      },
      mutations: { networkMode: 'always' },
    },
  })
  otherTabs?.addEventListener('message', () => void client.invalidateQueries())
  return client
}

// Any other error would only repeat.
function isTransient(error: Error): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 503)
}
