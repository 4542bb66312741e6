import type { ReactNode } from 'react'
import styles from './settings.module.css'

/** A text with more about it below. */
export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <div className={styles.twoLines}>
      {first}
      {second && <span>{second}</span>}
    </div>
  )
}
