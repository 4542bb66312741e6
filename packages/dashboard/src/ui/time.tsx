import { useSyncExternalStore } from 'react'
import { formatAbsolute, formatRelative, formatStamp, formatZoned, viewerZone } from './format-time.ts'
import styles from './layout.module.css'
import { useDisplayZone, useTimeStyle } from './time-style.ts'
import { Tooltip } from './tooltip.tsx'

type TimeProps = {
  at: string
  /** The time zone of the cron job that the time belongs to. Optional. */
  jobZone?: string | null
}

/**
 * A time in the style that the user has chosen: relative to now, and updated every second, or with its zone. Hover shows it
 * in full, in local time and in UTC.
 */
export function RelativeTime({ at, jobZone }: TimeProps) {
  const isRelative = useTimeStyle() === 'relative'
  const zone = useDisplayZone(jobZone)
  return isRelative ? <TickingTime at={at} /> : <Time at={at} text={formatStamp(new Date(at), zone)} />
}

function TickingTime({ at }: { at: string }) {
  const now = useNow()
  return <Time at={at} text={formatRelative(new Date(at), now)} />
}

/** A time in full, with its zone. Hover shows it in local time and in UTC. */
export function AbsoluteTime({ at, jobZone }: TimeProps) {
  const zone = useDisplayZone(jobZone)
  return <Time at={at} text={formatZoned(new Date(at), zone)} />
}

function Time({ at, text }: { at: string; text: string }) {
  return (
    <Tooltip text={<Zones at={new Date(at)} />}>
      <time dateTime={at} className={styles.time}>
        {text}
      </time>
    </Tooltip>
  )
}

function Zones({ at }: { at: Date }) {
  return (
    <span className={styles.zones}>
      <span>{viewerZone()}</span>
      <span>{formatAbsolute(at)}</span>
      <span>UTC</span>
      <span>{formatAbsolute(at, 'UTC')}</span>
    </span>
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
