import { Dialog } from 'radix-ui'
import type { ReactNode } from 'react'
import { useScrollLock } from '../ui/use-scroll-lock.ts'
import styles from './shell.module.css'

/** Shows the sidebar over the page, on narrow screens. */
export function Drawer({ onClose, children }: { onClose(): void; children: ReactNode }): ReactNode {
  useScrollLock()
  return (
    <Dialog.Root open onOpenChange={open => !open && onClose()}>
      <Dialog.Portal>
        <div className={styles.overlay} />
        <Dialog.Content className={styles.drawer} aria-describedby={undefined}>
          <Dialog.Title className="visually-hidden">Pages</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
