import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { type ChangeEvent, useId, useState } from 'react'
import { pagesOf, queryOf } from '../api/queries.ts'
import { useWorkspace } from '../session/scope.ts'
import { TextInput } from '../ui/field.tsx'
import { Chips, type Filters } from '../ui/filter-bar.tsx'
import styles from '../ui/layout.module.css'
import { useSettled } from '../ui/use-settled.ts'

const settledMs = 200

type CronJobFilterProps<Name extends string> = {
  filters: Pick<Filters<Name | 'cronjob_id'>, 'values' | 'set' | 'setAll'>
  /** The filter that leaves out cron jobs. With it, several can be chosen; without it, a choice replaces the last one. */
  exclude?: Name
}

/** Filters a list by cron jobs. Searches for them by the start of their names. Hidden in a workspace without cron jobs. */
export function CronJobFilter<Name extends string>(props: CronJobFilterProps<Name>) {
  const { filters, exclude } = props
  const { workspace } = useWorkspace()
  const [text, setText] = useState('')
  const id = useId()
  const name = useSettled(text.trim(), settledMs)
  const { data } = useInfiniteQuery(pagesOf('listCronJobs', { ws: workspace.id, query: { name, limit: 20 } }))
  const found = data?.items ?? []
  const choose = (chosen: string) => {
    const ids = found.filter(job => job.name === chosen).map(job => job.id)
    if (ids.length === 0) return
    const present = filters.values.cronjob_id ?? []
    filters.set('cronjob_id', exclude ? [...new Set([...present, ...ids])] : ids.slice(0, 1))
    setText('')
  }
  const change = ({ target, nativeEvent }: ChangeEvent<HTMLInputElement>) => {
    setText(target.value)
    // A choice from the list, not typed text.
    if (!(nativeEvent instanceof InputEvent) || nativeEvent.inputType === 'insertReplacementText') choose(target.value)
  }
  return (
    <>
      {(found.length > 0 || text !== '') && (
        <div className={styles.search}>
          <TextInput
            aria-label="Cron job"
            placeholder="Cron job"
            list={id}
            value={text}
            onChange={change}
            onKeyDown={event => event.key === 'Enter' && choose(text.trim())}
          />
          <datalist id={id}>
            {found.map(job => (
              <option key={job.id} value={job.name} />
            ))}
          </datalist>
        </div>
      )}
      <Chips
        filters={filters}
        name="cronjob_id"
        exclude={exclude}
        label="Cron job"
        shown={cronJobId => <CronJobName id={cronJobId} />}
      />
    </>
  )
}

function CronJobName({ id }: { id: string }) {
  const { workspace } = useWorkspace()
  const { data } = useQuery(queryOf('getCronJob', { ws: workspace.id, cronjob: id }))
  return data?.name ?? id
}
