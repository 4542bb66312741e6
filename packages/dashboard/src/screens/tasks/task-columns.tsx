import type { Task } from '@belfry/contract'
import { Checkbox } from '../../ui/checkbox.tsx'
import { StateBadge } from '../../ui/state-badge.tsx'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './tasks.module.css'

export type Selection = {
  all: readonly Task[]
  chosen: ReadonlySet<string>
  setChosen(chosen: ReadonlySet<string>): void
}

const sources: Record<Task['source'], string> = { task: 'Task', cron: 'Cron job', event: 'Event' }

/** The columns of a list of tasks; with a selection there are boxes before them. */
export function taskColumns(selection: Selection | null): ReadonlyArray<Column<Task>> {
  const columns: ReadonlyArray<Column<Task>> = [
    { id: 'name', header: 'Name', isLead: true, cell: task => <span className={styles.name}>{task.name}</span> },
    { id: 'state', header: 'State', cell: task => <StateBadge state={task.state} /> },
    { id: 'due', header: 'Due', cell: task => <RelativeTime at={task.next_retry_at ?? task.execute_at} /> },
    {
      id: 'target',
      header: 'Target',
      isExtra: true,
      cell: task => (
        <span className={styles.url} title={task.url}>
          <b>{task.method}</b> {task.url.replace(/^https?:\/\//, '')}
        </span>
      ),
    },
    { id: 'source', header: 'Source', isExtra: true, cell: task => sources[task.source] },
    { id: 'attempts', header: 'Attempts', align: 'end', isExtra: true, cell: task => task.attempts },
  ]
  return selection ? [boxes(selection), ...columns] : columns
}

function boxes({ all, chosen, setChosen }: Selection): Column<Task> {
  const isAll = all.length > 0 && all.every(({ id }) => chosen.has(id))
  return {
    id: 'chosen',
    isTight: true,
    header: (
      <Checkbox
        label="Choose all that are shown"
        isLabelHidden
        isOn={isAll}
        onChange={isOn => setChosen(new Set(isOn ? all.map(({ id }) => id) : []))}
      />
    ),
    cell: task => (
      <Checkbox
        label={`Choose ${task.name}`}
        isLabelHidden
        isOn={chosen.has(task.id)}
        onChange={isOn => {
          const next = new Set(chosen)
          if (isOn) next.add(task.id)
          else next.delete(task.id)
          setChosen(next)
        }}
      />
    ),
  }
}
