import type { ReactNode } from 'react'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { Problem } from '../ui/problem.tsx'
import { type Change, useChange } from './use-change.ts'

export type ConfirmChangeProps<T, Result = unknown> = Pick<Change<Result, T>, 'run' | 'affects' | 'onDone'> & {
  /** What changes; null closes the dialog. */
  of: T | null
  onClose(): void
  title: (of: T) => string
  description: string
  /** The label of the confirm button. */
  action: string
  /** Default: true. */
  isDangerous?: boolean
  /** Returns the text of the notification; undefined for none. */
  done(of: T, result: Result): string | undefined
  /** More fields. */
  children?: ReactNode
}

/** Asks for confirmation before a change, and makes it. Shows an error in the dialog. */
export function ConfirmChange<T, Result>(props: ConfirmChangeProps<T, Result>): ReactNode {
  const { of, onClose, title, run, affects, onDone, done, isDangerous = true, children, ...texts } = props
  const close = () => {
    change.reset()
    onClose()
  }
  const change = useChange<Result, T>({
    run,
    affects,
    done: (result, of) => done(of, result),
    onDone(result, of) {
      onClose()
      return onDone?.(result, of)
    },
    onError: () => {}, // the dialog shows it
  })
  return (
    <ConfirmDialog
      {...texts}
      isOpen={of !== null}
      onClose={close}
      title={of === null ? '' : title(of)}
      isDangerous={isDangerous}
      isPending={change.isPending}
      onConfirm={() => of !== null && change.mutate(of)}
    >
      {children}
      {change.error && <Problem error={change.error} />}
    </ConfirmDialog>
  )
}
