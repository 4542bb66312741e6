import { useQuery } from '@tanstack/react-query'
import { Search, X } from 'lucide-react'
import { type FormEvent, type ReactNode, useRef } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { cronJobNamesQuery } from '../../api/cron-job-names.ts'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import { type Option, SelectFilter } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './log.module.css'
import type { LogFilter } from './log-filters.ts'
import { RangeFilter } from './range-filter.tsx'
import { readSearch } from './read-search.ts'

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
const answers = ['2xx', '3xx', '4xx', '404', '410', '429', '5xx', '500', '502', '503', '504'].map(toOption)

/** The choices of the log. Each is in the address. */
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
      <SelectFilter filters={filters} name="status" label="Status" all="Any status" options={statuses} />
      <SelectFilter
        filters={filters}
        name="response_status"
        label="Answer"
        all="Any answer"
        options={withChosen(answers, filters.first('response_status'))}
      />
      <SelectFilter filters={filters} name="source" label="Source" all="Any source" options={sources} />
      {filters.first('workspace') !== 'all' && <CronJobFilter filters={filters} />}
      <RangeFilter filters={filters} />
      <Chip filters={filters} name="task_id" label="Task" />
      <Chip filters={filters} name="topic" label="Topic" />
      {filters.first('workspace') === 'all' && <Chip filters={filters} name="cronjob_id" label="Cron job" />}
    </>
  )
}

/** One field for what is typed in: a topic, a response status, or an id; an id of a run opens it. */
export function LogSearch({ filters }: { filters: LogFilters }): ReactNode {
  const { to } = useWorkspace()
  const { search } = useLocation()
  const navigate = useNavigate()
  const input = useRef<HTMLInputElement>(null)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    const meant = readSearch(input.current?.value ?? '')
    if (!meant) return
    if (input.current) input.current.value = ''
    if (meant.kind === 'run') void navigate(to.run(meant.id) + search)
    else filters.set(meant.name, meant.value)
  }
  return (
    <form className={styles.search} onSubmit={onSubmit}>
      <Search size={15} aria-hidden="true" />
      <TextInput
        ref={input}
        type="search"
        aria-label="Find by topic, response status, or the id of a task, cron job or run"
        placeholder="Topic, status, or an id"
        data-page-search=""
        enterKeyHint="search"
      />
    </form>
  )
}

function CronJobFilter({ filters }: { filters: LogFilters }): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(cronJobNamesQuery(workspace.id))
  const chosen = filters.first('cronjob_id')
  if (data.length === 0 && chosen === '') return null
  return (
    <SelectFilter
      filters={filters}
      name="cronjob_id"
      label="Cron job"
      all="Any cron job"
      options={withChosen(
        data.map(({ id, name }) => ({ value: id, label: name })),
        chosen,
      )}
    />
  )
}

function Chip({ filters, name, label }: { filters: LogFilters; name: LogFilter; label: string }): ReactNode {
  const value = filters.first(name)
  if (value === '') return null
  return (
    <Button
      aria-label={`${label} ${value}: remove`}
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

// An address may name what the list does not offer.
function withChosen(options: readonly Option[], chosen: string): readonly Option[] {
  return chosen === '' || options.some(({ value }) => value === chosen) ? options : [...options, toOption(chosen)]
}
