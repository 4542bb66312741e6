import { TriangleAlert, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import styles from './banner.module.css'

type BannerProps = { tone: 'bad' | 'warn'; onDismiss?: (() => void) | undefined; children: ReactNode }

/** A notice above every page. */
export function Banner({ tone, onDismiss, children }: BannerProps) {
  return (
    <p className={classNames(styles.banner, styles[tone])}>
      <TriangleAlert size={17} />
      <span>{children}</span>
      {onDismiss && <IconButton label="Dismiss" size="small" icon={<X size={15} />} onClick={onDismiss} />}
    </p>
  )
}
