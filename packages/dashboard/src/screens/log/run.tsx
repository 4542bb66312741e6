import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { type CSSProperties, type ReactNode, useCallback, useEffect, useRef } from 'react'
import { useLocation, useNavigate, useParams } from 'react-router'
import { runQuery } from '../../api/runs.ts'
import { useWorkspace } from '../../session/scope.ts'
import { IconButton } from '../../ui/button.tsx'
import { isTyping } from '../../ui/is-typing.ts'
import { Problem } from '../../ui/problem.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import { Skeleton } from '../../ui/table.tsx'
import { usePageTitle } from '../../ui/use-page-title.ts'
import { PanelEdge, usePanelWidth } from './panel-edge.tsx'
import styles from './run.module.css'
import { RunContent } from './run-content.tsx'
import { useIsNarrow } from './use-is-narrow.ts'

/** A run with its request and response, beside the log, or over it on narrow screens. */
export function Run(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { run: id = '' } = useParams()
  const { search } = useLocation()
  const navigate = useNavigate()
  const { data: run, error, refetch } = useQuery(runQuery(workspace.id, id))
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
  const close = useCallback(
    () => void navigate(to.log(search), { preventScrollReset: true }),
    [navigate, to.log, search],
  )
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !isInUse(event.target)) close()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [close])
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
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!run && !error && <SkeletonContent />}
        {run && <RunContent key={run.id} run={run} />}
      </section>
    </>
  )
}

// Escape belongs to an open menu or dialog, and to a field.
function isInUse(target: EventTarget | null): boolean {
  if (document.querySelector('[role=menu], [role=dialog], [role=alertdialog]')) return true
  return isTyping(target)
}

function SkeletonContent(): ReactNode {
  return (
    <div className={styles.skeletons}>
      {['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(row => (
        <Skeleton key={row} />
      ))}
    </div>
  )
}
