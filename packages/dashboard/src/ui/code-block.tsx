import type { ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import styles from './layout.module.css'

type CodeBlockProps = {
  text: string
  /** What it is, for screen readers. */
  label: string
  isWrapped?: boolean
  copyLabel?: string
}

/** Text as it is. Whatever stands in it, it is shown and never interpreted. */
export function CodeBlock({ text, label, isWrapped, copyLabel }: CodeBlockProps): ReactNode {
  return (
    <figure className={classNames(styles.code, isWrapped && styles.wrap)} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that is longer than its frame is scrolled with the keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={copyLabel ?? `Copy ${label}`} />
    </figure>
  )
}
