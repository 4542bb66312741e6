import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'

export type DialogProps = {
  isOpen: boolean
  onClose(): void
  title: ReactNode
  description?: ReactNode
  isWide?: boolean
  children: ReactNode
}

/**
 * A window over the page. The ground behind it is our own element and `base.css` stops the page from scrolling: Radix's
 * would write a style into the page, which its policy forbids.
 */
export function Dialog({ isOpen, onClose, title, description, isWide, children }: DialogProps): ReactNode {
  return (
    <Radix.Root open={isOpen} onOpenChange={open => !open && onClose()}>
      <Radix.Portal>
        <div className={styles.overlay} data-modal="" />
        <Radix.Content
          className={classNames(styles.dialog, isWide && styles.wide)}
          {...(description ? {} : { 'aria-describedby': undefined })}
        >
          <div className={styles.head}>
            <div>
              <Radix.Title>{title}</Radix.Title>
              {description && <Radix.Description className={styles.description}>{description}</Radix.Description>}
            </div>
          </div>
          {children}
          {/* The last in order, so that the focus begins with what the dialog is about; without a tooltip, which would take the first Escape. */}
          <span className={styles.close}>
            <Button
              kind="quiet"
              size="small"
              aria-label="Close"
              icon={<X size={16} aria-hidden="true" />}
              onClick={onClose}
            />
          </span>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { children: ReactNode }): ReactNode {
  return <div className={styles.actions}>{children}</div>
}

export type ConfirmDialogProps = Omit<DialogProps, 'children'> & {
  /** What will happen, on the button: "Delete task", not "OK". */
  action: string
  isDangerous?: boolean
  isPending?: boolean
  onConfirm(): void
  /** What else stands in it, such as what went wrong. */
  children?: ReactNode
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog({
  action,
  isDangerous,
  isPending,
  onConfirm,
  children,
  ...dialog
}: ConfirmDialogProps): ReactNode {
  return (
    <Dialog {...dialog}>
      {children}
      <DialogActions>
        <Button onClick={dialog.onClose}>Cancel</Button>
        <Button kind={isDangerous ? 'danger' : 'primary'} isPending={isPending} onClick={onConfirm}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
