import { useSyncExternalStore } from 'react'
import { readStored, store } from './browser-storage.ts'
import { viewerZone } from './format-time.ts'

/** How times are shown: relative to now, or in the zone of the browser, of UTC, or of the cron job that they belong to. */
export type TimeStyle = 'relative' | 'local' | 'utc' | 'job'

export const timeStyles: ReadonlyArray<{ value: TimeStyle; label: string }> = [
  { value: 'relative', label: 'Relative times' },
  { value: 'local', label: 'Local times' },
  { value: 'utc', label: 'UTC' },
  { value: 'job', label: 'Time zone of the cron job' },
]

const key = 'belfry.times'
const listeners = new Set<() => void>()
let chosen = storedStyle()

export function useTimeStyle(): TimeStyle {
  return useSyncExternalStore(subscribe, () => chosen)
}

export function chooseTimeStyle(style: TimeStyle): void {
  chosen = style
  for (const notify of listeners) notify()
  store(key, style)
}

export function useDisplayZone(jobZone?: string | null): string {
  const style = useTimeStyle()
  if (style === 'utc') return 'UTC'
  return (style === 'job' && jobZone) || viewerZone()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function storedStyle(): TimeStyle {
  const stored = readStored(key)
  return timeStyles.find(({ value }) => value === stored)?.value ?? 'relative'
}
