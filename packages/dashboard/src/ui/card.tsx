import type { ReactNode } from 'react'
import styles from './layout.module.css'

/** A part of a page with a ground of its own. */
export function Card({ children, label }: { children: ReactNode; label?: string }): ReactNode {
  return (
    <section className={styles.card} aria-label={label}>
      {children}
    </section>
  )
}

/** Things below each other. */
export function Stack({ children }: { children: ReactNode }): ReactNode {
  return <div className={styles.stack}>{children}</div>
}
