import type { RunDetail } from '@belfry/contract/run'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { indentJson } from '../../../forms/request/json-text.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { formatBytes } from '../../../ui/format-amount.ts'
import { saveFile } from '../../../ui/save-file.ts'
import { showControls } from '../../../ui/show-controls.ts'
import styles from './body.module.css'

type Message = RunDetail['request'] | NonNullable<RunDetail['response']>

type BodyViewProps = { message: Message; label: string; fileName: string }

/** Shows the body of a request or response as text, never as markup. */
export function BodyView({ message, label, fileName }: BodyViewProps) {
  const { body, body_encoding: encoding } = message
  const text = body ?? ''
  const views = useMemo(() => viewsOf(text, encoding), [text, encoding])
  const [chosen, setChosen] = useState('')
  const view = views.find(({ id }) => id === chosen) ?? views[0]
  if (!view || text === '') return <p className={styles.none}>No body</p>
  const content = encoding === 'base64' ? bytesOf(text) : new TextEncoder().encode(text)
  const shown = encoding === 'utf8' ? showControls(view.text) : view.text
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
        <span className={styles.size}>
          {formatBytes('body_bytes' in message ? message.body_bytes : content.length)}
        </span>
        <CopyButton text={view.text} label={`Copy ${label}`} />
        <Button
          kind="quiet"
          size="small"
          aria-label={`Download ${label}`}
          title="Download"
          icon={<Download size={15} />}
          onClick={() => saveFile(fileName, content)}
        />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll text that is longer than its frame */}
      <section tabIndex={0} aria-label={label} className={styles.scroller}>
        <pre className={view.id === 'hex' ? styles.hex : undefined}>{shown}</pre>
      </section>
      {shown !== view.text.replaceAll('\r\n', '\n') && (
        <p className={styles.note}>Invisible characters are shown as code points. Copying keeps the original text.</p>
      )}
      {message.body_truncated && (
        <p className={styles.note}>Only the first {formatBytes(content.length)} were stored.</p>
      )}
    </div>
  )
}

function viewsOf(text: string, encoding: Message['body_encoding']) {
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

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}

const bytesPerLine = 16

/** Formats bytes as a hex dump: the offset, sixteen bytes, and their ASCII characters. */
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += bytesPerLine) {
    const line = [...bytes.subarray(at, at + bytesPerLine)]
    const hex = line.map(byte => byte.toString(16).padStart(2, '0'))
    const left = hex.slice(0, 8).join(' ').padEnd(23)
    const right = hex.slice(8).join(' ').padEnd(23)
    const text = line.map(byte => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${left}  ${right}  ${text}`)
  }
  return lines.join('\n')
}
