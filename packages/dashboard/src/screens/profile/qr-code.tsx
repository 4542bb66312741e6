import { type ReactNode, useMemo } from 'react'
import { encode } from 'uqr'
import styles from './profile.module.css'

/** A text as a QR code, dark on light in every theme: some cameras read nothing else. */
export function QrCode({ text }: { text: string }): ReactNode {
  const { size, data } = useMemo(() => encode(text, { border: 2 }), [text])
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  return (
    <svg className={styles.qr} viewBox={`0 0 ${size} ${size}`} role="img" aria-label="QR code of the secret">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}
