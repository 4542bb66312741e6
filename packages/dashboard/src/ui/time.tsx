import { type ReactNode, useSyncExternalStore } from 'react'
import { formatAbsolute, formatRelative, viewerZone } from './format-time.ts'
import styles from './layout.module.css'
import { Tooltip } from './tooltip.tsx'

/** A time relative to now, updated every second. Hover shows it in full, in local time and in UTC. */
export function RelativeTime({ at }: { at: string }): ReactNode {
  const now = useNow()
  return <Time at={at} text={formatRelative(new Date(at), now)} />
}

/** A time in full, in local time. Hover shows it in UTC too. */
export function AbsoluteTime({ at }: { at: string }): ReactNode {
  return <Time at={at} text={formatAbsolute(new Date(at))} />
}

function Time({ at, text }: { at: string; text: string }): ReactNode {
  const date = new Date(at)
  return (
    <Tooltip
      text={
        <span className={styles.zones}>
          <span>{viewerZone()}</span>
          <span>{formatAbsolute(date)}</span>
          <span>UTC</span>
          <span>{formatAbsolute(date, 'UTC')}</span>
        </span>
      }
    >
      <time dateTime={at} className={styles.time}>
        {text}
      </time>
    </Tooltip>
  )
}

let now = new Date()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

// One timer for all times on the page.
function useNow(): Date {
  return useSyncExternalStore(subscribe, () => now)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  now = listeners.size > 1 ? now : new Date()
  timer ??= setInterval(() => {
    now = new Date()
    for (const notify of listeners) notify()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
