import { createContext, type ReactNode, useContext } from 'react'
import { Button } from './button.tsx'
import styles from './dialog.module.css'
import { latePart } from './late-part.tsx'

const OpenDialog = latePart(async () => (await import('./open-dialog.tsx')).OpenDialog)

export type DialogProps = {
  isOpen: boolean
  onClose(): void
  title: ReactNode
  description?: ReactNode
  isWide?: boolean | undefined
  children: ReactNode
}

const CloseContext = createContext<(() => void) | null>(null)

/** Returns the function that closes the dialog around a component; null outside of dialogs. */
export function useCloseDialog(): (() => void) | null {
  return useContext(CloseContext)
}

export function Dialog({ isOpen, ...props }: DialogProps) {
  if (!isOpen) return null
  return (
    <CloseContext value={props.onClose}>
      <OpenDialog {...props} />
    </CloseContext>
  )
}

export function DialogActions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}

export type ConfirmDialogProps = Omit<DialogProps, 'children'> & {
  /** The label of the confirm button: "Delete task", not "OK". */
  action: string
  isDangerous?: boolean
  isPending?: boolean
  /** Why it cannot be confirmed. */
  refusal?: string | null | undefined
  onConfirm(): void
  /** More content, such as an error. */
  children?: ReactNode
}

/** Asks for confirmation before an action that cannot be undone. */
export function ConfirmDialog({
  action,
  isDangerous,
  isPending,
  refusal,
  onConfirm,
  children,
  ...dialog
}: ConfirmDialogProps) {
  return (
    <Dialog {...dialog}>
      {children}
      <DialogActions>
        <Button onClick={dialog.onClose}>Cancel</Button>
        <Button
          kind={isDangerous ? 'danger' : 'primary'}
          isPending={isPending}
          refusal={refusal}
          onClick={onConfirm}
          aria-keyshortcuts="Control+Enter"
        >
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
