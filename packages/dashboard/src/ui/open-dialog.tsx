import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useLayoutEffect } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import styles from './dialog.module.css'
import type { DialogProps } from './dialog.tsx'

export function OpenDialog({ onClose, title, description, isWide, children }: Omit<DialogProps, 'isOpen'>) {
  return (
    <Layer
      className={classNames(styles.dialog, isWide && styles.wide)}
      isDescribed={Boolean(description)}
      isKept
      onClose={onClose}
    >
      <div className={styles.head}>
        <Radix.Title>{title}</Radix.Title>
        {description && <Radix.Description className={styles.description}>{description}</Radix.Description>}
      </div>
      {children}
      {/* Last, so the focus starts with the content. No tooltip, because it would consume the first Escape. */}
      <span className={styles.close}>
        <Button kind="quiet" size="small" aria-label="Close" icon={<X size={16} />} onClick={onClose} />
      </span>
    </Layer>
  )
}

type PanelProps = {
  /** For screen readers. */
  title: string
  className: string | undefined
  onClose(): void
  children: ReactNode
}

/** A modal layer without a visible title. */
export function OpenPanel({ title, children, ...layer }: PanelProps) {
  return (
    <Layer {...layer}>
      <Radix.Title className="visually-hidden">{title}</Radix.Title>
      {children}
    </Layer>
  )
}

type LayerProps = Omit<PanelProps, 'title'> & {
  isDescribed?: boolean
  /** Whether a click outside does not close it: what was typed, or a key that is shown only once, would be lost. */
  isKept?: boolean
}

// The overlay and the scroll lock are our own. Radix would inject a style element for them, but the content security policy
// forbids that.
function Layer({ className, isDescribed, isKept, onClose, children }: LayerProps) {
  useScrollLock()
  return (
    <Radix.Root open onOpenChange={open => !open && onClose()}>
      <Radix.Portal>
        <div className={styles.overlay} />
        <Radix.Content
          className={className}
          onInteractOutside={event => isKept && event.preventDefault()}
          {...(isDescribed ? {} : { 'aria-describedby': undefined })}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

let locks = 0

/**
 * Keeps the page from scrolling while a layer is open. `base.css` reads the attribute. A rule with `:has` instead would have
 * the browser look through the page whenever a row is added.
 */
function useScrollLock(): void {
  useLayoutEffect(() => {
    locks += 1
    document.documentElement.dataset.modal = ''
    return () => {
      locks -= 1
      if (locks === 0) delete document.documentElement.dataset.modal
    }
  }, [])
}
