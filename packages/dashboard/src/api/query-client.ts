import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api-problem.ts'

/** Creates the query cache. It calls `onSignedOut` when the API answers 401. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.status === 401) onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError(error, _variables, _result, { meta }) {
        if (!meta?.isSignIn) onError(error)
      },
    }),
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (failures, error) => failures < 2 && isTransient(error) },
    },
  })
}

// Any other error would only repeat.
function isTransient(error: Error): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 503)
}
