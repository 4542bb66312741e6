import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './tooltip.module.css'

/** Shows a text on hover and focus. Its child must be focusable. */
export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }): ReactNode {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.tooltip} sideOffset={6} collisionPadding={8}>
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
