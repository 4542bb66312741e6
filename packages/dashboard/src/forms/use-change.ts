import { useMutation, useQueryClient } from '@tanstack/react-query'
import { messageOf } from '../api/api-problem.ts'
import { reloadChanged } from '../api/effects.ts'
import { useToast } from '../ui/toast.tsx'

export type Change<Result, Input> = {
  run(input: Input): Promise<Result>
  /** Whether the page is left afterwards: its queries might fail, and the next page loads its own. */
  leaves?: boolean | ((result: Result, input: Input) => boolean) | undefined
  /** The text of the notification, or a function that returns it. If undefined, the change is silent. */
  done?: string | ((result: Result, input: Input) => string | undefined) | undefined
  /** Called once the affected queries are loaded, before the notification. */
  onDone?: ((result: Result, input: Input) => unknown) | undefined
  /** Shows an error. Default: as a notification. */
  onError?: ((error: Error) => void) | undefined
  /** A 401 then means wrong credentials, not an expired session. */
  isSignIn?: boolean | undefined
}

/** A change. Its notification or error is shown, and the queries that it affects are loaded again. */
export function useChange<Result, Input = void>(change: Change<Result, Input>) {
  const { run, leaves, done, onDone, onError, isSignIn = false } = change
  const client = useQueryClient()
  const toast = useToast()
  return useMutation({
    mutationFn: (input: Input) => run(input),
    meta: { isSignIn },
    async onSuccess(result, input) {
      const isLeft = typeof leaves === 'function' ? leaves(result, input) : leaves
      await reloadChanged(client, isLeft ? 'none' : 'active') // a dialog closes over the new list
      await onDone?.(result, input)
      const text = typeof done === 'function' ? done(result, input) : done
      if (text !== undefined) toast(text)
    },
    onError(error) {
      if (onError) onError(error)
      else toast(messageOf(error), 'bad')
      void reloadChanged(client) // it may have changed in the meantime
    },
  })
}
