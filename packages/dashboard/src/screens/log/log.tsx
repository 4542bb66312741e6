import { Download, Pause, Play, SlidersHorizontal } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Outlet, useParams } from 'react-router'
import { exportAddress } from '../../api/runs.ts'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { FilterFields, LogSearch } from './filter-fields.tsx'
import styles from './log.module.css'
import { logFilters } from './log-filters.ts'
import { RunList } from './run-list.tsx'
import { useIsNarrow } from './use-is-narrow.ts'
import { type ShownLog, useRunLog } from './use-run-log.ts'

/** Every attempt of a workspace or of an organization, as it happens; a run that is opened stands beside the list. */
export function Log(): ReactNode {
  const { organization } = useOrganization()
  const { workspace } = useWorkspace()
  const { run } = useParams()
  const filters = useFilters(logFilters)
  const shown = useRunLog(organization, workspace, filters)
  const [isPaused, setIsPaused] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const isNarrow = useIsNarrow()
  const isCovered = isNarrow && run !== undefined
  return (
    <div className={styles.page}>
      <div className={styles.list} inert={isCovered}>
        <PageHeader
          // Names the tab again when a run is closed.
          key={run === undefined ? 'list' : 'run'}
          title="Activity log"
          actions={
            <>
              {shown.omitted > 0 && <span>{formatCount(shown.omitted)}+ new runs not shown</span>}
              <LiveButton isLive={shown.isLive} isPaused={isPaused} onChange={setIsPaused} />
              <ExportMenu shown={shown} />
            </>
          }
        />
        <div className={styles.filters}>
          <div className={styles.find}>
            <LogSearch filters={filters} />
            <Button
              className={styles.more}
              icon={<SlidersHorizontal size={15} aria-hidden="true" />}
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
            >
              Filters{filters.isSet && ` (${Object.keys(filters.values).length})`}
            </Button>
          </div>
          <div className={classNames(styles.choices, isOpen && styles.open)}>
            <FilterBar filters={filters}>
              <FilterFields filters={filters} />
            </FilterBar>
          </div>
        </div>
        <RunList shown={shown} filters={filters} isPaused={isPaused} isNarrow={isNarrow} />
      </div>
      <Outlet />
    </div>
  )
}

type LiveButtonProps = { isLive: boolean; isPaused: boolean; onChange(isPaused: boolean): void }

function LiveButton({ isLive, isPaused, onChange }: LiveButtonProps): ReactNode {
  const icon = isPaused ? <Play size={14} aria-hidden="true" /> : <Pause size={14} aria-hidden="true" />
  return (
    <>
      <span className={classNames(styles.live, (isPaused || !isLive) && styles.still)} role="status">
        {!isLive ? 'Not live' : isPaused ? 'Paused' : 'Live'}
      </span>
      <Button
        icon={icon}
        refusal={isLive ? null : 'Too many logs are followed at the moment. Reload the page to see what is new.'}
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
      <MenuLabel>Every run that the filters leave</MenuLabel>
      <MenuItem href={exportAddress(scope, query, 'csv')}>CSV, for spreadsheets</MenuItem>
      <MenuItem href={exportAddress(scope, query, 'jsonl')}>JSON Lines, for programs</MenuItem>
    </Menu>
  )
}
