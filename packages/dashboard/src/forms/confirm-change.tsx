import { ConfirmDialog, type ConfirmDialogProps } from '../ui/dialog.tsx'
import { Problem } from '../ui/problem.tsx'
import { type Change, useChange } from './use-change.ts'

export type ConfirmChangeProps<Result> = Omit<ConfirmDialogProps, 'isPending' | 'onConfirm'> &
  Pick<Change<Result, void>, 'run' | 'leaves' | 'onDone' | 'done'>

/** Asks for confirmation, then makes a change. By default the change counts as dangerous. Errors show in the dialog. */
export function ConfirmChange<Result>(props: ConfirmChangeProps<Result>) {
  const { run, leaves, onDone, done, isDangerous = true, children, ...dialog } = props
  const change = useChange<Result>({
    run,
    leaves,
    done,
    onDone(result) {
      dialog.onClose()
      return onDone?.(result)
    },
    onError: () => {}, // the dialog shows it
  })
  const close = () => {
    change.reset()
    dialog.onClose()
  }
  return (
    <ConfirmDialog
      {...dialog}
      onClose={close}
      isDangerous={isDangerous}
      isPending={change.isPending}
      onConfirm={() => change.mutate()}
    >
      {children}
      {change.error && <Problem error={change.error} />}
    </ConfirmDialog>
  )
}
