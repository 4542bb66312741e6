import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query'
import { messageOf } from '../api/api-problem.ts'
import { useToast } from '../ui/toast.tsx'

export type Change<Result, Input> = {
  run: (input: Input) => Promise<Result>
  /** The beginning of the keys of all queries that show what changes. */
  affects: QueryKey
  /** Returns the text of the notification. Default: no notification. */
  done?: (input: Input) => string
  /** Called before the notification. */
  onDone?: () => void
}

/** A change without a form. Its notification or error is shown briefly, and the affected queries are loaded again. */
export function useChange<Result, Input = void>(
  change: Change<Result, Input>,
): UseMutationResult<Result, Error, Input> {
  const { run, affects, done, onDone } = change
  const client = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: run,
    async onSuccess(_, input) {
      onDone?.()
      if (done) toast(done(input))
      await client.invalidateQueries({ queryKey: affects })
    },
    onError: error => toast(messageOf(error), 'bad'),
  })
}
