import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { ArrowUp, ScrollText } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { useParams } from 'react-router'
import { useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Problem } from '../../ui/problem.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './log.module.css'
import { LogEnd } from './log-end.tsx'
import type { LogFilter } from './log-filters.ts'
import { RunRow, SkeletonRow } from './run-row.tsx'
import type { ShownLog } from './use-run-log.ts'

const freshMs = 1600
const bones = 10

type RunListProps = { shown: ShownLog; filters: Filters<LogFilter>; isPaused: boolean; isNarrow: boolean }

/** The rows of the log, of which only those in view exist. */
export function RunList({ shown, filters, isPaused, isNarrow }: RunListProps): ReactNode {
  const { log, view, scope, arrivedAt } = shown
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtTop, setIsAtTop] = useState(true)
  const [focused, setFocused] = useState<number | null>(null)
  const { run: openRun } = useParams()
  const rowHeight = isNarrow ? 64 : 42
  // A row with the focus stays, wherever it is scrolled to.
  const rangeExtractor = useCallback(
    (range: Range) => {
      const rows = defaultRangeExtractor(range)
      return focused === null || focused >= range.count || rows.includes(focused) ? rows : [...rows, focused]
    },
    [focused],
  )
  const rows = useVirtualizer({
    count: view.rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    rangeExtractor,
  })
  useEffect(() => rows.measure(), [rows, rowHeight])
  useEffect(() => log.hold(isPaused || !isAtTop), [log, isPaused, isAtTop])
  const first = rows.range?.startIndex ?? 0
  const last = rows.range?.endIndex ?? 0
  useEffect(() => log.look(first, last), [log, first, last])
  // Another log begins at its top.
  useEffect(() => {
    if (log) scroller.current?.scrollTo({ top: 0 })
  }, [log])

  const showNew = () => {
    log.release()
    scroller.current?.scrollTo({ top: 0 })
  }
  const isEmpty = view.rowCount === 0
  const isOfAll = scope.workspaceId === null
  if (isEmpty && view.state === 'failed') return <Problem error={view.error} onRetry={() => void log.readOn()} />
  if (isEmpty && view.state === 'end') return <NothingYet filters={filters} />
  return (
    <div className={styles.frame}>
      {view.waiting > 0 && (
        <div className={styles.waiting} role="status">
          <Button kind="primary" size="small" icon={<ArrowUp size={14} aria-hidden="true" />} onClick={showNew}>
            {view.waiting === 300 ? 'More than 300' : view.waiting} new {view.waiting === 1 ? 'run' : 'runs'}
          </Button>
        </div>
      )}
      <section
        ref={scroller}
        className={styles.scroller}
        onScroll={event => setIsAtTop(event.currentTarget.scrollTop < rowHeight / 2)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that is longer than its frame is scrolled with the keyboard
        tabIndex={0}
        aria-label="Runs"
      >
        <table
          className={styles.table}
          aria-rowcount={view.state === 'end' ? view.rowCount + 1 : -1}
          aria-busy={view.state === 'reading'}
        >
          <Head isOfAll={isOfAll} />
          <tbody
            style={{ height: isEmpty ? rowHeight * bones : rows.getTotalSize() }}
            onKeyDown={event => moveBetweenRows(event, scroller.current)}
          >
            {rows.getVirtualItems().map(({ index, start }) => {
              const run = view.runAt(index)
              const place = { start, height: rowHeight }
              if (!run) return <SkeletonRow key={index} place={place} index={index} />
              return (
                <RunRow
                  key={run.id}
                  run={run}
                  index={index}
                  place={place}
                  isOfAll={isOfAll}
                  isOpen={run.id === openRun}
                  isFresh={performance.now() - (arrivedAt(run.id) ?? Number.NEGATIVE_INFINITY) < freshMs}
                  onFocus={setFocused}
                />
              )
            })}
            {isEmpty && view.state === 'reading' && <Bones height={rowHeight} />}
          </tbody>
        </table>
      </section>
      <LogEnd view={view} log={log} oldest={view.runAt(view.rowCount - 1)} filters={filters} />
    </div>
  )
}

function Head({ isOfAll }: { isOfAll: boolean }): ReactNode {
  const names = ['Status', isOfAll ? 'Task, workspace' : 'Task', 'Answer', 'Late', 'Took', 'Started']
  return (
    <thead className={styles.head}>
      <tr className={styles.row} aria-rowindex={1}>
        {names.map(name => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

function Bones({ height }: { height: number }): ReactNode {
  return Array.from({ length: bones }, (_, index) => (
    <SkeletonRow key={index} index={index} place={{ start: index * height, height }} />
  ))
}

function NothingYet({ filters }: { filters: Filters<LogFilter> }): ReactNode {
  const { to } = useWorkspace()
  if (filters.isSet) {
    return (
      <EmptyState title="No run is like this" actions={<Button onClick={filters.clear}>Clear the filters</Button>}>
        The whole log was searched. New runs that match appear here as they happen.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={<ScrollText size={22} aria-hidden="true" />}
      title="Nothing has been dispatched yet"
      actions={
        <>
          <ButtonLink kind="primary" to={to.events()}>
            Publish an event
          </ButtonLink>
          <ButtonLink to={to.firstSteps()}>First steps</ButtonLink>
        </>
      }
    >
      Every attempt to call a target becomes a run, with what was sent and what came back. It appears here the second it
      ends.
    </EmptyState>
  )
}

function moveBetweenRows(event: KeyboardEvent, list: HTMLElement | null): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const links = [...(list?.querySelectorAll<HTMLElement>('[data-row-link]') ?? [])].sort(
    (a, b) => Number(a.dataset.rowLink) - Number(b.dataset.rowLink),
  )
  const at = links.findIndex(link => link.matches(':focus'))
  const next = event.key === 'ArrowDown' ? links[at + 1] : links[at - 1]
  if (!next) return
  event.preventDefault()
  next.focus()
}
