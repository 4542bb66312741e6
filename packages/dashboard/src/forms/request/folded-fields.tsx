import type { ReactNode } from 'react'
import styles from './request.module.css'

type FoldedFieldsProps = {
  summary: ReactNode
  /** Whether the fields are visible at first; false by default. */
  isOpenAtFirst?: boolean
  children: ReactNode
}

/** Fields behind a summary. An error in them unfolds them, and they stay so when it is corrected. */
export function FoldedFields({ summary, isOpenAtFirst, children }: FoldedFieldsProps): ReactNode {
  return (
    <details className={styles.folded} open={isOpenAtFirst}>
      <summary>{summary}</summary>
      <div className={styles.part}>{children}</div>
    </details>
  )
}
