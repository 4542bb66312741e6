import type { ReactNode } from 'react'
import styles from './settings.module.css'

export function TwoLines({ first, second }: { first: ReactNode; second: ReactNode }) {
  return (
    <div className={styles.twoLines}>
      {first}
      {second && <span>{second}</span>}
    </div>
  )
}
