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
 * A modal dialog. The overlay is our own element and `base.css` stops the page from scrolling, because Radix would
 * inject a style element, which the content security policy forbids.
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
          {/* Last, so the focus starts with the content. No tooltip, because it would consume the first Escape. */}
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
  /** The label of the confirm button: "Delete task", not "OK". */
  action: string
  isDangerous?: boolean
  isPending?: boolean
  onConfirm(): void
  /** More content, such as an error. */
  children?: ReactNode
}

/** Asks for confirmation before an action that cannot be undone. */
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
