import { classNames } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import styles from './layout.module.css'
import { showControls } from './show-controls.ts'

type CodeBlockProps = {
  text: string
  /** The accessible name. */
  label: string
  isWrapped?: boolean
  onCopied?: (() => void) | undefined
}

/** Shows text, never as markup. Invisible characters are shown as code points; a copy has the original. */
export function CodeBlock({ text, label, isWrapped, onCopied }: CodeBlockProps) {
  return (
    <figure className={classNames(styles.code, isWrapped && styles.wrap)} aria-label={label}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll text that is longer than its frame */}
      <pre tabIndex={0}>
        <code>{showControls(text)}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${label}`} onCopied={onCopied} />
    </figure>
  )
}
