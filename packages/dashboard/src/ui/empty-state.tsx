import type { ReactNode } from 'react'
import styles from './layout.module.css'

type EmptyStateProps = {
  icon?: ReactNode
  title: string
  children?: ReactNode
  actions?: ReactNode
  /** Whether it is the whole page. */
  isPage?: boolean | undefined
}

/** Shown in place of an empty list. Explains what appears here and how to create it. */
export function EmptyState({ icon, title, children, actions, isPage }: EmptyStateProps): ReactNode {
  return (
    <div className={styles.empty}>
      {icon}
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && <p>{children}</p>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
