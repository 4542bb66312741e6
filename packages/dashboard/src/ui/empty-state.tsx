import type { ReactNode } from 'react'
import styles from './layout.module.css'

type EmptyStateProps = { icon?: ReactNode; title: string; children?: ReactNode; actions?: ReactNode }

/** Stands where nothing is yet: says what would be here, and how it comes about. */
export function EmptyState({ icon, title, children, actions }: EmptyStateProps): ReactNode {
  return (
    <div className={styles.empty}>
      {icon}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
