import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Download, Pause, Play, RotateCcw, Search, Skull } from 'lucide-react'
import { type FormEvent, useId, useState } from 'react'
import { Outlet, useLocation, useNavigate, useParams } from 'react-router'
import { urlOf } from '../../api/call.ts'
import { acceptedFilters } from '../../layout/accepted-filters.ts'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { errorText } from '../../layout/error-labels.ts'
import { lagOptions } from '../../layout/lag-options.ts'
import { searchQuery } from '../../layout/search-query.ts'
import { sourceOptions } from '../../layout/source-options.ts'
import { useOrganization, useRefusal, useWorkspace } from '../../session/scope.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { classNames } from '../../ui/class-names.ts'
import { optionsOf, TextInput } from '../../ui/field.tsx'
import { Chips, FilterBar, type Filters, MultiFilter, SelectFilter, useFilters } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { latePart } from '../../ui/late-part.tsx'
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useSettled } from '../../ui/use-settled.ts'
import styles from './log.module.css'
import {
  type LogFilter,
  logFilters,
  parseSearch,
  rangeNames,
  searchedFilters,
  statusCodes,
  toDeadLetterQuery,
} from './log-filters.ts'
import { RangeFilter } from './range-filter.tsx'
import { RunList } from './run-list.tsx'
import { useIsNarrow } from './use-is-narrow.ts'
import { type Connection, type ShownLog, useRunLog } from './use-run-log.ts'

/** Every attempt in a workspace or organization, live. An opened run is shown beside the list. */
export function Log() {
  const { organization } = useOrganization()
  const { workspace, to } = useWorkspace()
  const { run } = useParams()
  const filters = useFilters(logFilters, acceptedFilters)
  const shown = useRunLog(organization, workspace, filters)
  const [isPaused, setIsPaused] = useState(false)
  const [isReplaying, setIsReplaying] = useState(false)
  const mayNotReplay = useRefusal('dead_letter.replay')
  const deadLetters = toDeadLetterQuery(filters.values)
  const hasTime = rangeNames.some(name => name in filters.values)
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
                <ButtonLink to={to.deadLetters(deadLetters)} icon={<Skull size={15} />}>
                  {hasTime ? 'Dead letters of any time' : 'Dead letters'}
                </ButtonLink>
              )}
              {Object.keys(shown.query).length > 0 && shown.scope.ws !== null && (
                <Button icon={<RotateCcw size={15} />} refusal={mayNotReplay} onClick={() => setIsReplaying(true)}>
                  Replay matching
                </Button>
              )}
              <ExportMenu shown={shown} />
            </>
          }
        />
        {isReplaying && <ReplayRuns query={shown.query} onClose={() => setIsReplaying(false)} />}
        <FilterBar filters={filters} search={<LogSearch filters={filters} />}>
          <FilterFields filters={filters} />
        </FilterBar>
        {/* The filters need its space while a run is open. */}
        {filters.first('workspace') !== 'all' && run === undefined && (
          <div className={styles.strip}>
            <LogStrip filters={filters} time={shown.query} />
          </div>
        )}
        <RunList shown={shown} filters={filters} isPaused={isPaused} isNarrow={isNarrow} />
      </div>
      <Outlet />
    </div>
  )
}

// Loaded after the list, because the list works without them.
const ReplayRuns = latePart(async () => (await import('./replay-runs.tsx')).ReplayRuns)
const LogStrip = latePart(async () => (await import('./log-strip.tsx')).LogStrip)

type LiveButtonProps = { connection: Connection; isPaused: boolean; onChange(isPaused: boolean): void }

const connectionTexts = { live: 'Live', connecting: 'Connecting…', refused: 'Not live' } as const

function LiveButton({ connection, isPaused, onChange }: LiveButtonProps) {
  const icon = isPaused ? <Play size={14} /> : <Pause size={14} />
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

function ExportMenu({ shown: { scope, query } }: { shown: ShownLog }) {
  // On the organization, because a link cannot send the workspace header.
  const exportUrl = (format: string) =>
    urlOf('exportOrganizationRuns', { org: scope.org, query: { ...query, workspace_id: scope.ws, format } })
  return (
    <Menu align="end" trigger={<Button icon={<Download size={15} />}>Export</Button>}>
      <MenuLabel>All runs that match the filters</MenuLabel>
      <MenuItem href={exportUrl('csv')}>CSV</MenuItem>
      <MenuItem href={exportUrl('jsonl')}>JSON Lines</MenuItem>
    </Menu>
  )
}

const settledMs = 200

type LogFilters = Filters<LogFilter>

const statuses = optionsOf({ success: 'Success', failed: 'Failed' })

function FilterFields({ filters }: { filters: LogFilters }) {
  const { workspaces } = useOrganization()
  return (
    <>
      {workspaces.length > 1 && (
        <SelectFilter
          filters={filters}
          name="workspace"
          label="Workspace"
          all="This workspace"
          options={[{ value: 'all', label: 'All workspaces' }]}
        />
      )}
      <SelectFilter filters={filters} name="status" label="Status" all="All statuses" options={statuses} />
      <MultiFilter
        filters={filters}
        name="response_status"
        exclude="not_response_status"
        label="Response"
        all="Any status code"
        options={statusCodes}
      />
      <MultiFilter
        filters={filters}
        name="source"
        exclude="not_source"
        label="Source"
        all="All sources"
        options={sourceOptions}
      />
      <CronJobFilter filters={filters} exclude="not_cronjob_id" />
      <RangeFilter filters={filters} />
      <SelectFilter filters={filters} name="late_ms" label="Lag" all="Any lag" options={lagOptions} />
      <Chips filters={filters} name="task_id" label="Task" />
      <Chips filters={filters} name="topic" exclude="not_topic" label="Topic" />
      <Chips filters={filters} name="label" label="Label" />
      <Chips filters={filters} name="name" exclude="not_name" label="Name" />
      <Chips filters={filters} name="host" exclude="not_host" label="Host" />
      <Chips filters={filters} name="error" exclude="not_error" label="Error" shown={errorText} />
    </>
  )
}

/** A search field for names, labels, hosts, status codes, errors and ids. The id of a run opens that run. */
function LogSearch({ filters }: { filters: LogFilters }) {
  const { workspace, to } = useWorkspace()
  const { search } = useLocation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const list = useId()
  const { data: suggested } = useQuery(searchQuery(workspace.id, useSettled(text, settledMs)))
  const apply = async () => {
    const query = searchQuery(workspace.id, text)
    const result = query.enabled ? await client.fetchQuery(query).catch(() => null) : null
    const parsed = parseSearch(text, result?.data ?? [])
    if (!parsed) return
    setText('')
    if (parsed.kind === 'run') return await navigate(to.run(parsed.id) + search)
    filters.setAll([...searchedFilters.map(name => [name, ''] as const), [parsed.name, parsed.value]])
  }
  return (
    <form
      className={styles.search}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void apply()
      }}
    >
      <Search size={15} />
      <TextInput
        type="search"
        aria-label="Search by name, label, host, topic, status code, error or ID"
        placeholder="Name, label, host, status or ID"
        aria-keyshortcuts="/"
        enterKeyHint="search"
        list={list}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <datalist id={list}>
        {text.trim() !== '' &&
          suggested?.data
            .filter(({ kind }) => kind !== 'queue' && kind !== 'secret')
            .map(({ kind, name, id }) => <option key={`${kind} ${id} ${name}`} value={name} />)}
      </datalist>
    </form>
  )
}
