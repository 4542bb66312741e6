import { type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react'
import styles from './run.module.css'

const key = 'belfry.run-width'
// Percent of the page.
const [min, max, initial, step] = [25, 75, 50, 2]

/** Returns the width of the panel of a run in percent, or null for the default, and its setter. The browser keeps it. */
export function usePanelWidth(): [number | null, (width: number | null) => void] {
  const [width, setWidth] = useState(readWidth)
  const change = (wanted: number | null) => {
    const next = wanted && Math.min(max, Math.max(min, Math.round(wanted)))
    setWidth(next)
    try {
      if (next === null) localStorage.removeItem(key)
      else localStorage.setItem(key, String(next))
    } catch {
      // Storage is blocked: the width lasts until the panel is closed.
    }
  }
  return [width, change]
}

type PanelEdgeProps = { width: number | null; onChange(width: number | null): void }

/** The edge of the panel. Dragging and the arrow keys change its width, a double click resets it. */
export function PanelEdge({ width, onChange }: PanelEdgeProps): ReactNode {
  const drag = (event: PointerEvent<HTMLElement>) => {
    const page = event.currentTarget.parentElement?.getBoundingClientRect()
    if (!page || !event.currentTarget.hasPointerCapture(event.pointerId)) return
    onChange(((page.right - event.clientX) / page.width) * 100)
  }
  const press = (event: KeyboardEvent) => {
    const change = { ArrowLeft: step, ArrowRight: -step }[event.key]
    if (change === undefined) return
    event.preventDefault()
    onChange((width ?? initial) + change)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that has a value and the focus is no <hr>
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the run"
      aria-valuemin={min}
      aria-valuemax={max}
      aria-valuenow={width ?? initial}
      tabIndex={0}
      className={styles.edge}
      onPointerDown={event => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onDoubleClick={() => onChange(null)}
      onKeyDown={press}
    />
  )
}

function readWidth(): number | null {
  try {
    const width = Number(localStorage.getItem(key))
    return width >= min && width <= max ? width : null
  } catch {
    return null
  }
}
