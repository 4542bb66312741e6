import { Eye, EyeOff } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import styles from './settings.module.css'

/** A text that onlookers should not read: it is shown when asked for, and can be copied unseen. */
export function HiddenText({ text, name }: { text: string; name: string }): ReactNode {
  const [isShown, setIsShown] = useState(false)
  return (
    <>
      <code className={styles.mono}>{isShown ? text : `${text.slice(0, 6)}••••••••••••`}</code>{' '}
      <IconButton
        size="small"
        label={isShown ? `Hide the ${name}` : `Show the ${name}`}
        icon={isShown ? <EyeOff size={15} /> : <Eye size={15} />}
        onClick={() => setIsShown(!isShown)}
      />
      <CopyButton text={text} label={`Copy the ${name}`} />
    </>
  )
}
