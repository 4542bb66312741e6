import { Download } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { indentJson } from '../../../forms/request/json-text.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { formatBytes } from '../../../ui/format-amount.ts'
import { showControls } from '../../../ui/show-controls.ts'
import styles from './body.module.css'
import { bytesOf, hexDump } from './body-text.ts'

export type Body = {
  text: string
  encoding: 'utf8' | 'base64'
  /** The full size. `text` may hold less. */
  bytes: number
  isTruncated: boolean
}

type View = { id: string; label: string; text: string }

/** Shows a body as text, never as markup. */
export function BodyView({ body, label, fileName }: { body: Body; label: string; fileName: string }): ReactNode {
  const views = useMemo(() => viewsOf(body), [body])
  const [chosen, setChosen] = useState('')
  const view = views.find(({ id }) => id === chosen) ?? views[0]
  if (!view || body.text === '') return <p className={styles.none}>No body</p>
  const shown = body.encoding === 'utf8' ? showControls(view.text) : view.text
  return (
    <div className={styles.body}>
      <div className={styles.bar}>
        {views.length > 1 && (
          <fieldset className={styles.views} aria-label={`View of the ${label}`}>
            {views.map(({ id, label }) => (
              <button key={id} type="button" aria-pressed={id === view.id} onClick={() => setChosen(id)}>
                {label}
              </button>
            ))}
          </fieldset>
        )}
        <span className={styles.size}>{formatBytes(body.bytes)}</span>
        <CopyButton text={view.text} label={`Copy ${label}`} />
        <Button
          kind="quiet"
          size="small"
          aria-label={`Download ${label}`}
          title="Download"
          icon={<Download size={15} />}
          onClick={() => download(body, fileName)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll text that is longer than its frame */}
      <section tabIndex={0} aria-label={label} className={styles.scroller}>
        <pre className={view.id === 'hex' ? styles.hex : undefined}>{shown}</pre>
      </section>
      {shown !== view.text.replaceAll('\r\n', '\n') && (
        <p className={styles.note}>Invisible characters are shown as code points. Copying keeps the original text.</p>
      )}
      {body.isTruncated && <p className={styles.note}>Only the first {formatBytes(storedBytes(body))} were stored.</p>}
    </div>
  )
}

function viewsOf({ text, encoding }: Body): View[] {
  if (encoding === 'base64') {
    return [
      { id: 'hex', label: 'Hex', text: hexDump(bytesOf(text)) },
      { id: 'base64', label: 'Base64', text },
    ]
  }
  const formatted = indentJson(text)
  const raw = { id: 'raw', label: 'Raw', text }
  return formatted === null || formatted === text ? [raw] : [{ id: 'formatted', label: 'JSON', text: formatted }, raw]
}

function storedBytes(body: Body): number {
  return body.encoding === 'base64' ? bytesOf(body.text).length : new TextEncoder().encode(body.text).length
}

// With this content type a browser never shows the file.
function download({ text, encoding }: Body, fileName: string): void {
  const content = encoding === 'base64' ? bytesOf(text) : text
  const address = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }))
  Object.assign(document.createElement('a'), { href: address, download: fileName }).click()
  setTimeout(() => URL.revokeObjectURL(address), 10_000)
}
