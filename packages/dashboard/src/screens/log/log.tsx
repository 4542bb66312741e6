import { Download, Pause, Play, Skull } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Outlet, useParams } from 'react-router'
import { exportUrl } from '../../api/runs.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { latePart } from '../../ui/late-part.tsx'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { FilterFields, LogSearch } from './filter-fields.tsx'
import styles from './log.module.css'
import { logFilters, toDeadLetterQuery } from './log-filters.ts'
import { RunList } from './run-list.tsx'
import { useIsNarrow } from './use-is-narrow.ts'
import { type Connection, type ShownLog, useRunLog } from './use-run-log.ts'

/** Every attempt in a workspace or organization, live. An opened run is shown beside the list. */
export function Log(): ReactNode {
  const { organization } = useOrganization()
  const { workspace, to } = useWorkspace()
  const { run } = useParams()
  const filters = useFilters(logFilters, acceptedFilters)
  const shown = useRunLog(organization, workspace, filters)
  const [isPaused, setIsPaused] = useState(false)
  const deadLetters = toDeadLetterQuery(filters.values)
  const isNarrow = useIsNarrow()
  const isCovered = isNarrow && run !== undefined
  return (
    <div className={styles.page}>
      <div className={styles.list} inert={isCovered}>
        <PageHeader
          // Sets the document title again when a run is closed.
          key={run === undefined ? 'list' : 'run'}
          title="Activity log"
          actions={
            <>
              {shown.omitted > 0 && <span>{formatCount(shown.omitted)}+ new runs not shown</span>}
              <LiveButton connection={shown.connection} isPaused={isPaused} onChange={setIsPaused} />
              {deadLetters !== null && (
                <ButtonLink to={to.deadLetters(deadLetters)} icon={<Skull size={15} aria-hidden="true" />}>
                  Dead letters
                </ButtonLink>
              )}
              <ExportMenu shown={shown} />
            </>
          }
        />
        <FilterBar filters={filters} search={<LogSearch />}>
          <FilterFields filters={filters} />
        </FilterBar>
        {/* The filters need its space while a run is open. */}
        {filters.first('workspace') !== 'all' && run === undefined && (
          <div className={styles.strip}>
            <LogStrip filters={filters} time={timeOf(shown.query)} />
          </div>
        )}
        <RunList shown={shown} filters={filters} isPaused={isPaused} isNarrow={isNarrow} />
      </div>
      <Outlet />
    </div>
  )
}

// Loaded after the list, which does not need it.
const LogStrip = latePart(async () => (await import('./log-strip.tsx')).LogStrip)

function timeOf({ from, to }: ShownLog['query']): { from?: string; to?: string } {
  return { ...(from ? { from: String(from) } : {}), ...(to ? { to: String(to) } : {}) }
}

type LiveButtonProps = { connection: Connection; isPaused: boolean; onChange(isPaused: boolean): void }

const connectionTexts = { live: 'Live', connecting: 'Connecting…', refused: 'Not live' } as const

function LiveButton({ connection, isPaused, onChange }: LiveButtonProps): ReactNode {
  const icon = isPaused ? <Play size={14} aria-hidden="true" /> : <Pause size={14} aria-hidden="true" />
  return (
    <>
      <span className={classNames(styles.live, (isPaused || connection !== 'live') && styles.still)} role="status">
        {connection === 'live' && isPaused ? 'Paused' : connectionTexts[connection]}
      </span>
      <Button
        icon={icon}
        refusal={connection !== 'refused' ? null : 'Too many live logs are open. Reload the page to see new runs.'}
        onClick={() => onChange(!isPaused)}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </>
  )
}

function ExportMenu({ shown: { scope, query } }: { shown: ShownLog }): ReactNode {
  return (
    <Menu align="end" trigger={<Button icon={<Download size={15} aria-hidden="true" />}>Export</Button>}>
      <MenuLabel>All runs that match the filters</MenuLabel>
      <MenuItem href={exportUrl(scope, query, 'csv')}>CSV</MenuItem>
      <MenuItem href={exportUrl(scope, query, 'jsonl')}>JSON Lines</MenuItem>
    </Menu>
  )
}
