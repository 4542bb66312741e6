import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import type { DialogProps } from './dialog.tsx'
import { useScrollLock } from './use-scroll-lock.ts'

/**
 * A modal dialog that is open. The overlay is our own element and the lock of the page our own too, because Radix would inject a
 * style element, which the content security policy forbids.
 */
export function OpenDialog({ onClose, title, description, isWide, children }: Omit<DialogProps, 'isOpen'>): ReactNode {
  useScrollLock()
  return (
    <Radix.Root open onOpenChange={open => !open && onClose()}>
      <Radix.Portal>
        <div className={styles.overlay} />
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
