import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import styles from './layout.module.css'
import { useToast } from './toast.tsx'

/** Copies a text. With `children` the button has a visible label. */
export function CopyButton({
  text,
  label = 'Copy',
  icon: ownIcon = <Copy size={15} />,
  note,
  onCopied,
  children,
}: {
  text: string
  label?: string
  /** Shown after copying. */
  note?: string
  onCopied?: (() => void) | undefined
  /** Replaces the default icon. */
  icon?: ReactNode
  children?: ReactNode
}) {
  const [isCopied, setIsCopied] = useState(false)
  const toast = useToast()
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
      onCopied?.()
      if (note) toast(note)
    } catch {
      toast('Your browser blocked copying. Select the text and copy it.', 'bad')
    }
  }
  const icon = isCopied ? <Check size={15} /> : ownIcon
  return (
    <>
      {children ? (
        <Button icon={icon} onClick={() => void copy()}>
          {children}
        </Button>
      ) : (
        <IconButton label={isCopied ? 'Copied' : label} size="small" icon={icon} onClick={() => void copy()} />
      )}
      <span className="visually-hidden" aria-live="polite">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  )
}

export function CopyableId({ id }: { id: string }) {
  return (
    <span className={styles.id}>
      <code>{id}</code>
      <CopyButton text={id} label="Copy ID" />
    </span>
  )
}
