import type { ReactNode } from 'react'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { type Change, useChange } from './use-change.ts'

export type ConfirmChangeProps<T> = Omit<Change<unknown, T>, 'onDone'> & {
  /** What changes; null closes the dialog. */
  of: T | null
  onClose(): void
  title: (of: T) => string
  description: string
  /** The label of the confirm button. */
  action: string
  /** Default: true. */
  isDangerous?: boolean
}

/** Asks for confirmation before a change, and makes it. */
export function ConfirmChange<T>(props: ConfirmChangeProps<T>): ReactNode {
  const { of, onClose, title, run, affects, done, isDangerous = true, ...texts } = props
  const change = useChange<unknown, T>({ run, affects, ...(done && { done }), onDone: onClose })
  return (
    <ConfirmDialog
      {...texts}
      isOpen={of !== null}
      onClose={onClose}
      title={of === null ? '' : title(of)}
      isDangerous={isDangerous}
      isPending={change.isPending}
      onConfirm={() => of !== null && change.mutate(of)}
    />
  )
}
