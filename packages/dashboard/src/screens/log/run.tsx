import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import {
  type CSSProperties,
  type KeyboardEvent as KeyPress,
  type PointerEvent,
  useEffect,
  useRef,
  useState,
} from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { queryOf } from '../../api/queries.ts'
import { useWorkspace } from '../../session/scope.ts'
import { readStored, store } from '../../ui/browser-storage.ts'
import { IconButton } from '../../ui/button.tsx'
import { isTyping } from '../../ui/is-typing.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { usePageTitle } from '../../ui/use-page-title.ts'
import styles from './run.module.css'
import { RunContent } from './run-content.tsx'
import { useIsNarrow } from './use-is-narrow.ts'

/** A run with its request and response, beside the log, or over it on narrow screens. */
export function Run() {
  const { workspace, to } = useWorkspace()
  const { run: id = '' } = useParams()
  const { search } = useLocation()
  const navigate = useNavigate()
  const query = useQuery(queryOf('getRun', { ws: workspace.id, run: id }))
  const run = query.data
  const panel = useRef<HTMLElement>(null)
  const isNarrow = useIsNarrow()
  const [width, setWidth] = usePanelWidth()
  usePageTitle(run ? `Run of ${run.task_name}` : 'Run')
  useEffect(() => {
    if (isNarrow) panel.current?.focus()
  }, [isNarrow])
  const latest = useRef(id)
  latest.current = id
  // Returns the focus to the row of the run.
  useEffect(
    () => () => {
      const row = `[data-run="${CSS.escape(latest.current)}"]`
      setTimeout(() => document.querySelector<HTMLElement>(row)?.focus(), 0)
    },
    [],
  )
  const close = () => void navigate(to.log(search), { preventScrollReset: true })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isInUse(event.target)) close()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  })
  return (
    <>
      {!isNarrow && <PanelEdge width={width} onChange={setWidth} />}
      <section
        ref={panel}
        className={styles.panel}
        // The type has no custom properties.
        style={width === null ? undefined : ({ '--panel-width': `${width}%` } as CSSProperties)}
        aria-label="Run"
        tabIndex={-1}
      >
        <header className={styles.head}>
          <h2>
            <bdi>{run?.task_name ?? 'Run'}</bdi>
          </h2>
          {run && <StateBadge state={run.status} />}
          <IconButton label="Close run" icon={<X size={17} />} onClick={close} />
        </header>
        <Loaded query={query}>{run => <RunContent key={run.id} run={run} />}</Loaded>
      </section>
    </>
  )
}

// Escape belongs to an open menu or dialog, and to a field.
function isInUse(target: EventTarget | null): boolean {
  if (document.querySelector('[role=menu], [role=dialog], [role=alertdialog]')) return true
  return isTyping(target)
}

const key = 'belfry.run-width'
// Percent of the page.
const [min, max, initial, step] = [25, 75, 50, 2]

/** Returns the width of the panel of a run in percent, or null for the default, and its setter. The browser keeps it. */
function usePanelWidth(): [number | null, (width: number | null) => void] {
  const [width, setWidth] = useState(readWidth)
  const change = (wanted: number | null) => {
    const next = wanted && Math.min(max, Math.max(min, Math.round(wanted)))
    setWidth(next)
    store(key, next === null ? null : String(next))
  }
  return [width, change]
}

type PanelEdgeProps = { width: number | null; onChange(width: number | null): void }

/** The edge of the panel. Dragging and the arrow keys change its width, a double click resets it. */
function PanelEdge({ width, onChange }: PanelEdgeProps) {
  const drag = (event: PointerEvent<HTMLElement>) => {
    const page = event.currentTarget.parentElement?.getBoundingClientRect()
    if (!page || !event.currentTarget.hasPointerCapture(event.pointerId)) return
    onChange(((page.right - event.clientX) / page.width) * 100)
  }
  const press = (event: KeyPress) => {
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
  const width = Number(readStored(key))
  return width >= min && width <= max ? width : null
}
