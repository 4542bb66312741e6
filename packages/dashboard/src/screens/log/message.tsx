import type { ReactNode } from 'react'
import { showControls } from '../../ui/show-controls.ts'
import { type Body, BodyView } from './body/body-view.tsx'
import styles from './run.module.css'

type MessageProps = {
  /** "request" or "response". */
  label: string
  line: string
  headers: Readonly<Record<string, string | string[]>>
  body: Body
  fileName: string
}

/** Shows a request or response as text: its first line, body and headers. */
export function Message({ label, line, headers, body, fileName }: MessageProps): ReactNode {
  const rows = Object.entries(headers).flatMap(([name, value]) => [value].flat().map(one => [name, one] as const))
  return (
    <div className={styles.message}>
      <p className={styles.line}>
        <code>{line}</code>
      </p>
      <BodyView body={body} label={`${label} body`} fileName={fileName} />
      <h3>
        Headers <span className={styles.count}>{rows.length}</span>
      </h3>
      <table className={styles.headers} aria-label={`Headers of the ${label}`}>
        <tbody>
          {rows.map(([name, value], index) => (
            <tr key={index}>
              <th scope="row">{showControls(name)}</th>
              <td>
                <bdi>{showControls(value)}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
