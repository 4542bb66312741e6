import type { ReactNode } from 'react'
import { Link } from 'react-router'
import styles from './layout.module.css'
import { usePageTitle } from './use-page-title.ts'

export type PageHeaderProps = {
  title: string
  /** One sentence about the purpose of the page. */
  description?: ReactNode
  /** The list that the page belongs to. */
  parent?: { label: string; to: string }
  actions?: ReactNode
  /** Shown next to the title, such as a state. */
  badge?: ReactNode
}

/** The header of a page. Every page has one, because it also sets the document title. */
export function PageHeader({ title, description, parent, actions, badge }: PageHeaderProps) {
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
          <h1 title={title.length > 60 ? title : undefined}>{title}</h1>
          {badge}
        </div>
        {description && <p>{description}</p>}
      </div>
      {actions && <div className={styles.actions}>{actions}</div>}
    </header>
  )
}
