import { Check, Copy } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'
import { useToast } from './toast.tsx'

/** Copies a text; with `children` it is a button with words. */
export function CopyButton({
  text,
  label = 'Copy',
  icon: ownIcon = <Copy size={15} />,
  children,
}: {
  text: string
  label?: string
  /** In place of the usual one. */
  icon?: ReactNode
  children?: ReactNode
}): ReactNode {
  const [isCopied, setIsCopied] = useState(false)
  const say = useToast()
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
    } catch {
      say('The browser does not allow copying here: select the text and copy it.', 'bad')
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
