import { Search, X } from 'lucide-react'
import { type FormEvent, type ReactNode, useRef } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { CronJobFilter } from '../../layout/cron-job-filter.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import { type Option, SelectFilter, withChosen } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './log.module.css'
import { type LogFilter, parseSearch } from './log-filters.ts'
import { RangeFilter } from './range-filter.tsx'

type LogFilters = Filters<LogFilter>

const statuses = [
  { value: 'success', label: 'Success' },
  { value: 'failed', label: 'Failed' },
]
const sources = [
  { value: 'task', label: 'Tasks' },
  { value: 'cron', label: 'Cron jobs' },
  { value: 'event', label: 'Events' },
]
const statusCodes = ['2xx', '3xx', '4xx', '404', '410', '429', '5xx', '500', '502', '503', '504'].map(toOption)

/** The filters of the log. Each is in the URL. */
export function FilterFields({ filters }: { filters: LogFilters }): ReactNode {
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
      <SelectFilter
        filters={filters}
        name="response_status"
        label="Response"
        all="Any status code"
        options={withChosen(statusCodes, filters.first('response_status'))}
      />
      <SelectFilter filters={filters} name="source" label="Source" all="All sources" options={sources} />
      {filters.first('workspace') !== 'all' && <CronJobFilter filters={filters} />}
      <RangeFilter filters={filters} />
      <Chip filters={filters} name="task_id" label="Task" />
      <Chip filters={filters} name="topic" label="Topic" />
      {filters.first('workspace') === 'all' && <Chip filters={filters} name="cronjob_id" label="Cron job" />}
    </>
  )
}

/** A search field for a topic, a status code or an id. The id of a run opens that run. */
export function LogSearch({ filters }: { filters: LogFilters }): ReactNode {
  const { to } = useWorkspace()
  const { search } = useLocation()
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    const parsed = parseSearch(input.current?.value ?? '')
    if (!parsed) return
    if (input.current) input.current.value = ''
    if (parsed.kind === 'run') void navigate(to.run(parsed.id) + search)
    else filters.set(parsed.name, parsed.value)
  }
  return (
    <form className={styles.search} onSubmit={onSubmit}>
      <Search size={15} aria-hidden="true" />
      <TextInput
        ref={input}
        type="search"
        aria-label="Search by topic, status code, or the ID of a task, cron job or run"
        placeholder="Topic, status code or ID"
        data-page-search=""
        enterKeyHint="search"
      />
    </form>
  )
}

function Chip({ filters, name, label }: { filters: LogFilters; name: LogFilter; label: string }): ReactNode {
  const value = filters.first(name)
  if (value === '') return null
  return (
    <Button
      aria-label={`Remove filter: ${label} ${value}`}
      icon={<X size={14} aria-hidden="true" />}
      onClick={() => filters.set(name, '')}
    >
      <span className={styles.chip}>
        {label} <code>{value}</code>
      </span>
    </Button>
  )
}

function toOption(value: string): Option {
  return { value, label: value }
}
