import type { Run } from '@belfry/contract/run'
import { ArrowUp, ScrollText } from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useNavigate, useParams } from 'react-router'
import { messageOf } from '../../api/api-problem.ts'
import { useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import type { Filters } from '../../ui/filter-bar.tsx'
import { formatCount, formatThings } from '../../ui/format-amount.ts'
import { formatAbsolute } from '../../ui/format-time.ts'
import { latePart } from '../../ui/late-part.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useTimeStyle } from '../../ui/time-style.ts'
import styles from './log.module.css'
import { type LogFilter, rangeNames } from './log-filters.ts'
import { assignSlots } from './row-slots.ts'
import { type LogView, maxArrived } from './run-log.ts'
import { RunRow, SkeletonRow } from './run-row.tsx'
import type { ShownLog } from './use-run-log.ts'

const freshMs = 1600
const skeletonRows = 10
// Once the list has rested this long, the rows return to their order in the DOM, for screen readers.
const restMs = 500
// Mounted above and below the view.
const moreRows = 6

type RunListProps = { shown: ShownLog; filters: Filters<LogFilter>; isPaused: boolean; isNarrow: boolean }

/** The rows of the log. Only the rows in view are mounted. */
export function RunList({ shown, filters, isPaused, isNarrow }: RunListProps) {
  const { log, view, scope, arrivedAt } = shown
  const [scroller, setScroller] = useState<HTMLElement | null>(null)
  const slotsBefore = useRef<ReadonlyMap<string | number, number>>(new Map())
  const [focused, setFocused] = useState<number | null>(null)
  const [selected, setSelected] = useState<ReadonlyMap<string, Run>>(new Map())
  const mayReplay = useRefusal('dead_letter.replay') === null
  const onSelect = useCallback((run: Run, isSelected: boolean) => {
    setSelected(before => {
      const next = new Map(before)
      if (isSelected) next.set(run.id, run)
      else next.delete(run.id)
      return next
    })
  }, [])
  const { run: openRun } = useParams()
  const follow = useFollow(openRun)
  const onFocus = useCallback(
    (index: number, to: string) => {
      setFocused(index)
      follow(to)
    },
    [follow],
  )
  const rowHeight = isNarrow ? 64 : 42
  const { isAtTop, isScrolling, ...shownRows } = useRowsInView(scroller, rowHeight)
  useEffect(() => log.setHeld(isPaused || !isAtTop), [log, isPaused, isAtTop])
  const isEmpty = view.rowCount === 0
  const rowCount = isEmpty && view.state === 'reading' ? skeletonRows : view.rowCount
  const last = Math.max(0, Math.min(shownRows.last, rowCount - 1))
  const first = Math.min(shownRows.first, last)
  useEffect(() => log.setVisible(first, last), [log, first, last])
  // A different log starts at its top.
  useEffect(() => {
    setSelected(new Map())
    if (log) scroller?.scrollTo({ top: 0 })
  }, [log, scroller])

  const showNew = () => {
    log.showWaiting()
    scroller?.scrollTo({ top: 0 })
  }
  const indexes = indexesOf(first - moreRows, last + moreRows, focused, rowCount)
  const keyOf = (index: number) => view.runAt(index)?.id ?? index
  const slots = assignSlots(indexes.map(keyOf), slotsBefore.current)
  slotsBefore.current = slots
  const mounted = indexes.map(index => ({ index, run: view.runAt(index), slot: slots.get(keyOf(index)) ?? index }))
  // Moving an element costs as much as a new one, so the elements get their order when scrolling has stopped.
  if (isScrolling) mounted.sort((a, b) => a.slot - b.slot)
  const isOrganizationWide = scope.ws === null
  // A run of another workspace is replayed there.
  const isSelectable = mayReplay && !isOrganizationWide
  const isStamped = useTimeStyle() !== 'relative'
  if (isEmpty && view.state === 'failed') return <Problem error={view.error} onRetry={() => void log.readMore()} />
  if (isEmpty && view.state === 'end') return <NoRuns filters={filters} />
  return (
    <div className={styles.frame}>
      {view.waiting > 0 && (
        <div className={styles.waiting} role="status">
          <Button kind="primary" size="small" icon={<ArrowUp size={14} />} onClick={showNew}>
            {view.waiting === maxArrived ? `More than ${maxArrived} new runs` : formatThings(view.waiting, 'new run')}
          </Button>
        </div>
      )}
      <section
        ref={setScroller}
        className={styles.scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users scroll a list that is longer than its frame
        tabIndex={0}
        aria-label="Runs"
      >
        <table
          className={classNames(styles.table, isStamped && styles.stamps, isSelectable && styles.selectable)}
          aria-rowcount={view.state === 'end' ? view.rowCount + 1 : -1}
          aria-busy={view.state === 'reading'}
        >
          <Head isOrganizationWide={isOrganizationWide} />
          <tbody style={{ height: isEmpty ? rowHeight * skeletonRows : rowHeight * view.rowCount }}>
            {mounted.map(({ slot, run, index }) => {
              if (!run) return <SkeletonRow key={slot} index={index} height={rowHeight} />
              return (
                <RunRow
                  key={slot}
                  run={run}
                  index={index}
                  height={rowHeight}
                  isOrganizationWide={isOrganizationWide}
                  isOpen={run.id === openRun}
                  isFresh={performance.now() - (arrivedAt(run.id) ?? Number.NEGATIVE_INFINITY) < freshMs}
                  onFocus={onFocus}
                  isSelected={selected.has(run.id)}
                  onSelect={isSelectable ? onSelect : undefined}
                />
              )
            })}
          </tbody>
        </table>
      </section>
      {selected.size > 0 && <SelectedRuns selected={[...selected.values()]} onClear={() => setSelected(new Map())} />}
      <LogEnd shown={shown} oldest={view.runAt(view.rowCount - 1)} filters={filters} />
    </div>
  )
}

// Loaded when the first run is selected.
const SelectedRuns = latePart(async () => (await import('./replay-runs.tsx')).SelectedRuns)

/** Returns the indexes from `first` to `last` of a list, and the focused one: that row stays mounted out of view. */
function indexesOf(first: number, last: number, focused: number | null, count: number): number[] {
  const from = Math.max(0, first)
  const length = Math.max(0, Math.min(last, count - 1) - from + 1)
  const indexes = Array.from({ length }, (_, at) => from + at)
  if (focused === null || focused >= count || indexes.includes(focused)) return indexes
  return [...indexes, focused].sort((a, b) => a - b)
}

const followMs = 80

/** Returns a function that opens the run of the focused row, if another run is open. */
function useFollow(openRun: string | undefined): (to: string) => void {
  const navigate = useNavigate()
  const open = useRef(openRun)
  open.current = openRun
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const go = useRef(navigate)
  go.current = navigate
  return useCallback((to: string) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      const isOther = open.current !== undefined && !to.includes(open.current)
      if (isOther) void go.current(to, { replace: true, preventScrollReset: true })
    }, followMs)
  }, [])
}

function Head({ isOrganizationWide }: { isOrganizationWide: boolean }) {
  const names = ['Status', isOrganizationWide ? 'Task, workspace' : 'Task', 'Response', 'Lag', 'Duration', 'Started']
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

function NoRuns({ filters }: { filters: Filters<LogFilter> }) {
  const { to } = useWorkspace()
  const name = filters.first('name')
  const hasTime = rangeNames.some(filter => filters.first(filter) !== '')
  if (filters.isSet) {
    return (
      <EmptyState
        title="No matching runs"
        actions={
          <>
            {hasTime && (
              <Button onClick={() => filters.setAll(rangeNames.map(filter => [filter, '']))}>Search any time</Button>
            )}
            {name !== '' && <ButtonLink to={to.tasks(`?${new URLSearchParams({ name })}`)}>Search tasks</ButtonLink>}
            <Button onClick={filters.clear}>Clear filters</Button>
          </>
        }
      >
        {name !== '' &&
          'Names, labels, hosts, topics, errors and IDs were searched; payloads are not. A label can hold a part of the payload. '}
        New matching runs appear here as they happen.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon={ScrollText}
      title="No runs yet"
      actions={
        <>
          <ButtonLink kind="primary" to={to.events()}>
            Publish event
          </ButtonLink>
          <ButtonLink to={to.firstSteps()}>First steps</ButtonLink>
        </>
      }
    >
      Each call of a target is a run, with its request and response. Runs appear here as soon as they finish.
    </EmptyState>
  )
}

type LogEndProps = { shown: ShownLog; oldest: Run | undefined; filters: Filters<LogFilter> }

/** The footer of the log: how many runs are loaded, and how to load more. */
function LogEnd({ shown: { view, log, query }, oldest, filters }: LogEndProps) {
  const { rowCount, state } = view
  const count = formatCount(rowCount)
  const texts: Record<LogView['state'], string> = {
    reading: rowCount === 0 ? 'Loading…' : 'Loading more…',
    idle: 'Scroll for older runs',
    end: `${formatThings(rowCount, 'run')} · end of log`,
    failed: messageOf(view.error),
    stopped: `${rowCount === 0 ? 'No matches' : `${count} matches`} in the newest runs`,
    full: `${count} runs · list limit reached`,
  }
  const isSlow = view.isFromStorage && state !== 'failed' && state !== 'full'
  return (
    <p className={styles.foot} role={state === 'failed' ? 'alert' : undefined}>
      {texts[state]}
      {isSlow && ' · from object storage, slower'}{' '}
      {(state === 'failed' || state === 'stopped') && (
        <Button size="small" onClick={() => void log.readMore()}>
          {state === 'failed' ? 'Try again' : 'Search older runs'}
        </Button>
      )}
      {state === 'full' && oldest && (
        <Button
          size="small"
          onClick={() =>
            // A preset range has an end already.
            filters.setAll([
              ['range', ''],
              ['from', String(query.from ?? '')],
              ['to', oldest.started_at],
            ])
          }
        >
          Show runs before {formatAbsolute(new Date(oldest.started_at))}
        </Button>
      )}
    </p>
  )
}

/** Returns which of the rows of equal height a scrolling element shows. They may be past the end of the list. */
function useRowsInView(scroller: HTMLElement | null, rowHeight: number) {
  const [inView, setInView] = useState({ first: 0, last: 0, isAtTop: true, isScrolling: false })
  useEffect(() => {
    if (!scroller) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const update = (isScrolling: boolean) => {
      const { scrollTop: top, clientHeight } = scroller
      const first = Math.max(0, Math.floor(top / rowHeight))
      const last = Math.max(first, Math.floor((top + clientHeight) / rowHeight))
      const isAtTop = top < rowHeight / 2
      setInView(before => {
        const next = { first, last, isAtTop, isScrolling }
        return JSON.stringify(before) === JSON.stringify(next) ? before : next
      })
    }
    const onScroll = () => {
      clearTimeout(timer)
      timer = setTimeout(() => update(false), restMs)
      // In the same frame, or the view would be empty for a moment.
      flushSync(() => update(true))
    }
    const sizes = new ResizeObserver(() => update(false))
    sizes.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(timer)
      sizes.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [scroller, rowHeight])
  return inView
}
