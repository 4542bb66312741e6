import type { ReactNode } from 'react'
import styles from './badge.module.css'
import { classNames } from './class-names.ts'

type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'busy' | 'accent'

/** A short label. Where the tone matters it has an icon too, because color alone is not accessible. */
export function Badge({ tone = 'plain', icon, children }: { tone?: Tone; icon?: ReactNode; children: ReactNode }) {
  return (
    <span className={classNames(styles.badge, styles[tone])}>
      {icon}
      {children}
    </span>
  )
}
