import type { ReactNode } from 'react'
import { usePageTitle } from '../ui/use-page-title.ts'
import { Bell } from './bell.tsx'
import styles from './plain-layout.module.css'

type PlainLayoutProps = { title: string; description?: ReactNode; children: ReactNode; foot?: ReactNode }

/** A page without the shell, such as the sign-in page. */
export function PlainLayout({ title, description, children, foot }: PlainLayoutProps) {
  usePageTitle(title)
  return (
    <main className={styles.page}>
      <div className={styles.brand}>
        <Bell size={28} />
        Belfry
      </div>
      <div className={styles.card}>
        <header>
          <h1>{title}</h1>
          {description && <p>{description}</p>}
        </header>
        {children}
      </div>
      {foot && <p className={styles.foot}>{foot}</p>}
    </main>
  )
}
