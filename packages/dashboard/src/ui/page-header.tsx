import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './layout.module.css'
import { usePageTitle } from './use-page-title.ts'

export type PageHeaderProps = {
  title: string
  /** One sentence on what the page is for. */
  description?: ReactNode
  /** The page above, for those that stand below a list. */
  parent?: { label: string; to: string }
  actions?: ReactNode
  /** Beside the title, such as a state. */
  badge?: ReactNode
}

/** The head of a page. Every page has one: it also names the browser's tab. */
export function PageHeader({ title, description, parent, actions, badge }: PageHeaderProps): ReactNode {
  usePageTitle(title)
  return (
    <header className={styles.header}>
      <div>
        {parent && (
          <Link to={parent.to} className={styles.crumb}>
            ← {parent.label}
          </Link>
        )}
        <div className={styles.actions}>
          <h1>{title}</h1>
          {badge}
        </div>
        {description && <p>{description}</p>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
