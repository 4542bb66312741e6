import type { Task } from '@belfry/contract'
import type { WorkspacePaths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './dead-letters.module.css'

type Selection = {
  rows: readonly Task[]
  selected: ReadonlySet<string>
  onChange(selected: ReadonlySet<string>): void
  to: WorkspacePaths
}

/** The columns of the list; the first one selects. */
export function deadLetterColumns({ rows, selected, onChange, to }: Selection): Array<Column<Task>> {
  const areAll = rows.length > 0 && rows.every(({ id }) => selected.has(id))
  const toggle = (id: string, isOn: boolean) => {
    const next = new Set(selected)
    if (isOn) next.add(id)
    else next.delete(id)
    onChange(next)
  }
  return [
    {
      id: 'select',
      header: (
        <Checkbox
          label="Select all that are shown"
          isLabelHidden
          isOn={areAll}
          onChange={isOn => onChange(new Set(isOn ? rows.map(({ id }) => id) : []))}
        />
      ),
      cell: ({ id, name }) => (
        <Checkbox label={`Select ${name}`} isLabelHidden isOn={selected.has(id)} onChange={isOn => toggle(id, isOn)} />
      ),
    },
    { id: 'task', header: 'Task', isLead: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: 'reason',
      header: 'Last failure',
      cell: ({ last_run: run, state_reason }) =>
        run ? (
          <Link to={to.run(run.id)}>{run.response_status ?? (run.error_code ?? 'failed').replaceAll('_', ' ')}</Link>
        ) : (
          (state_reason ?? '–')
        ),
    },
    {
      id: 'target',
      header: 'Target',
      isExtra: true,
      cell: ({ method, url }) => (
        <span className={styles.target} title={url}>
          {method} <bdi>{url}</bdi>
        </span>
      ),
    },
    { id: 'attempts', header: 'Attempts', align: 'end', isExtra: true, cell: ({ attempts }) => attempts },
    {
      id: 'died',
      header: 'Given up',
      align: 'end',
      cell: ({ finished_at, updated_at }) => <RelativeTime at={finished_at ?? updated_at} />,
    },
  ]
}
