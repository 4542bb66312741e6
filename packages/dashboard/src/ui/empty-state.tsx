import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './layout.module.css'

export type EmptyStateProps = {
  icon?: LucideIcon
  /** Shown in place of an icon. */
  picture?: ReactNode
  title: string
  children?: ReactNode
  actions?: ReactNode
  isPage?: boolean | undefined
}

/** Shown in place of an empty list. Explains what appears here and how to create it. */
export function EmptyState({ icon: Icon, picture, title, children, actions, isPage }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {picture}
      {Icon && <Icon size={22} />}
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children && <p>{children}</p>}
      {actions && <div className={styles.actions}>{actions}</div>}
    </div>
  )
}
