import { type ReactNode, useEffect, useState } from 'react'
import styles from './request.module.css'

type FoldedFieldsProps = {
  summary: ReactNode
  /** Whether the fields are visible at first; false by default. */
  isOpenAtFirst?: boolean
  hasError: boolean
  children: ReactNode
}

/** Fields behind a summary. An error in them unfolds them, and they stay so when it is corrected. */
export function FoldedFields({ summary, isOpenAtFirst = false, hasError, children }: FoldedFieldsProps): ReactNode {
  const [isOpen, setIsOpen] = useState(isOpenAtFirst)
  useEffect(() => {
    if (hasError) setIsOpen(true)
  }, [hasError])
  return (
    <details className={styles.folded} open={isOpen} onToggle={event => setIsOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      <div className={styles.part}>{children}</div>
    </details>
  )
}
