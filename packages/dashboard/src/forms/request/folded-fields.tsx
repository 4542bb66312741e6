import type { ReactNode } from 'react'
import { Card, Stack } from '../../ui/card.tsx'
import styles from './request.module.css'

type FoldedFieldsProps = {
  summary: string
  /** Their values in short, beside the summary. */
  values?: string
  /** Whether the fields are visible at first; false by default. */
  isOpenAtFirst?: boolean
  children: ReactNode
}

/** Fields behind a summary. An error in them unfolds them, and they stay so when it is corrected. */
export function FoldedFields({ summary, values, isOpenAtFirst, children }: FoldedFieldsProps) {
  return (
    <details className={styles.folded} open={isOpenAtFirst}>
      <summary>
        {summary} {values && <span>{values}</span>}
      </summary>
      <Stack>{children}</Stack>
    </details>
  )
}

/** Fields that few requests need, in a separate card. */
export function FoldedCard(props: FoldedFieldsProps) {
  return (
    <Card label={props.summary}>
      <FoldedFields {...props} />
    </Card>
  )
}
