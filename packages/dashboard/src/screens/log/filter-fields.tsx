import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, Search, X } from 'lucide-react'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useLocation, useNavigate, useSearchParams } from 'react-router'
import { cronJobNamesQuery } from '../../api/cron-jobs.ts'
import { searchQuery } from '../../api/search.ts'
import { sourceOptions } from '../../layout/source-options.ts'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { IconButton } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import { MultiFilter, type Option, SelectFilter } from '../../ui/filter-bar.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import { useSettled } from '../../ui/use-settled.ts'
import styles from './log.module.css'
import { type LogFilter, parseSearch, searchedFilters } from './log-filters.ts'
import { RangeFilter } from './range-filter.tsx'

const settledMs = 200

type LogFilters = Filters<LogFilter>

const statuses = [
  { value: 'success', label: 'Success' },
  { value: 'failed', label: 'Failed' },
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
      {filters.first('workspace') !== 'all' && <CronJobs filters={filters} />}
      <RangeFilter filters={filters} />
      <Chips filters={filters} name="task_id" label="Task" />
      <Chips filters={filters} name="topic" exclude="not_topic" label="Topic" />
      <Chips filters={filters} name="name" exclude="not_name" label="Name" />
      <Chips filters={filters} name="host" exclude="not_host" label="Host" />
      <Chips filters={filters} name="error" exclude="not_error" label="Error" />
      {filters.first('workspace') === 'all' && (
        <Chips filters={filters} name="cronjob_id" exclude="not_cronjob_id" label="Cron job" />
      )}
    </>
  )
}

function CronJobs({ filters }: { filters: LogFilters }): ReactNode {
  const { workspace } = useWorkspace()
  const { data = [] } = useQuery(cronJobNamesQuery(workspace.id))
  if (data.length === 0 && filters.first('cronjob_id') === '' && filters.first('not_cronjob_id') === '') return null
  return (
    <MultiFilter
      filters={filters}
      name="cronjob_id"
      exclude="not_cronjob_id"
      label="Cron job"
      all="All cron jobs"
      options={data.map(({ id, name }) => ({ value: id, label: name }))}
    />
  )
}

/** A search field for names, hosts, status codes and ids. The id of a run opens that run. */
export function LogSearch(): ReactNode {
  const { workspace, to } = useWorkspace()
  const { search } = useLocation()
  const [, setParams] = useSearchParams()
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
    setParams(before => {
      const next = new URLSearchParams(before)
      for (const name of searchedFilters) next.delete(name)
      next.set(parsed.name, parsed.value)
      return next
    })
  }
  return (
    <form
      className={styles.search}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void apply()
      }}
    >
      <Search size={15} aria-hidden="true" />
      <TextInput
        type="search"
        aria-label="Search by name, host, topic, status code or ID"
        placeholder="Name, host, status code or ID"
        data-page-search=""
        enterKeyHint="search"
        autoComplete="off"
        list={list}
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <datalist id={list}>
        {text.trim() !== '' &&
          suggested?.data.map(({ kind, name, id }) => <option key={`${kind} ${id} ${name}`} value={name} />)}
      </datalist>
    </form>
  )
}

type ChipsProps = { filters: LogFilters; name: LogFilter; exclude?: LogFilter; label: string }

/** The values of a filter that a search or a link has set, each with buttons to remove it and to exclude it. */
function Chips({ filters: { values, setAll }, name, exclude, label }: ChipsProps): ReactNode {
  const filtersOfChips = exclude ? [name, exclude] : [name]
  return filtersOfChips.flatMap(filter => {
    const given = values[filter] ?? []
    const text = filter === exclude ? `${label} not` : label
    return given.map(value => {
      const rest = given.filter(one => one !== value)
      const other = filter === exclude ? name : exclude
      return (
        <span key={`${filter} ${value}`} className={styles.chip}>
          <span>
            {text} <code>{value}</code>
          </span>
          {other && (
            <IconButton
              size="small"
              label={other === exclude ? `Exclude ${label} ${value}` : `Show only ${label} ${value}`}
              icon={<Ban size={13} aria-hidden="true" />}
              onClick={() =>
                setAll([
                  [filter, rest],
                  // The API takes one name.
                  [other, other === 'name' ? value : [...(values[other] ?? []), value]],
                ])
              }
            />
          )}
          <IconButton
            size="small"
            label={`Remove filter: ${text} ${value}`}
            icon={<X size={14} aria-hidden="true" />}
            onClick={() => setAll([[filter, rest]])}
          />
        </span>
      )
    })
  })
}

function toOption(value: string): Option {
  return { value, label: value }
}
