import { X } from 'lucide-react'
import { Toast as Radix } from 'radix-ui'
import { Button, IconButton } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './toast.module.css'
import type { Shown } from './toast.tsx'

/** The notifications on the screen. Loaded with the first one. */
export function Toasts({ shown, onClose }: { shown: readonly Shown[]; onClose(id: number): void }) {
  return (
    <Radix.Provider duration={6000} label="Notification">
      {shown.map(({ id, text, isBad, action }) => (
        <Radix.Root
          key={id}
          className={classNames(styles.toast, isBad && styles.bad)}
          onOpenChange={open => !open && onClose(id)}
        >
          <Radix.Description>{text}</Radix.Description>
          {action && (
            <Radix.Action altText={action.label} asChild>
              <Button size="small" onClick={action.run}>
                {action.label}
              </Button>
            </Radix.Action>
          )}
          <IconButton label="Close" size="small" icon={<X size={14} />} onClick={() => onClose(id)} />
        </Radix.Root>
      ))}
      <Radix.Viewport className={styles.viewport} />
    </Radix.Provider>
  )
}
