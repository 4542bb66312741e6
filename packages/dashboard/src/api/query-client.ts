import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { ApiProblem } from './api-problem.ts'

/** Makes the cache of what was read. `onSignedOut` is called when an answer says that the session is over. */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: Error) => {
    if (error instanceof ApiProblem && error.status === 401) onSignedOut()
  }
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({
      onError(error, _variables, _answer, { meta }) {
        if (!meta?.isSignIn) onError(error)
      },
    }),
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (failures, error) => failures < 2 && isPassing(error) },
    },
  })
}

// A refusal stays one however often the question is repeated.
function isPassing(error: Error): boolean {
  return error instanceof ApiProblem && (error.status === 0 || error.status === 503)
}
