import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import styles from './settings.module.css'

type HiddenSecretProps = { text: string; expiresAt?: string | null }

/** A signing secret, and when it expires. It is hidden until the user shows it, and can be copied while hidden. */
export function HiddenSecret({ text, expiresAt }: HiddenSecretProps) {
  const [isShown, setIsShown] = useState(false)
  const secret = (
    <span className={styles.secret}>
      <code>{isShown ? text : `${text.slice(0, 6)}••••••••••••`}</code>
      <IconButton
        size="small"
        label={isShown ? 'Hide signing secret' : 'Show signing secret'}
        icon={isShown ? <EyeOff size={15} /> : <Eye size={15} />}
        onClick={() => setIsShown(!isShown)}
      />
      <CopyButton text={text} label="Copy signing secret" />
    </span>
  )
  if (!expiresAt) return secret
  return (
    <>
      {secret} expires <AbsoluteTime at={expiresAt} />
    </>
  )
}
