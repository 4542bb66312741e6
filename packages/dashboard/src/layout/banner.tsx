import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { classNames } from '../ui/class-names.ts'
import styles from './banner.module.css'

/** A notice above every page. */
export function Banner({ tone, children }: { tone: 'bad' | 'warn'; children: ReactNode }): ReactNode {
  return (
    <p className={classNames(styles.banner, styles[tone])}>
      <TriangleAlert size={17} aria-hidden="true" />
      <span>{children}</span>
    </p>
  )
}
