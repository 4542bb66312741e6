import type { Task } from '@belfry/contract/task'
import type { WorkspacePaths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import type { Column } from '../../ui/table.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import styles from './dead-letters.module.css'

/** Returns the columns of the list. */
export function deadLetterColumns(to: WorkspacePaths): ReadonlyArray<Column<Task>> {
  return [
    { id: 'task', header: 'Task', isLead: true, sortBy: ({ name }) => name, cell: ({ name }) => <bdi>{name}</bdi> },
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
      sortBy: ({ url }) => url,
      cell: ({ method, url }) => (
        <span className={styles.target} title={url}>
          {method} <bdi>{url}</bdi>
        </span>
      ),
    },
    {
      id: 'attempts',
      header: 'Runs',
      align: 'end',
      isExtra: true,
      sortBy: ({ attempts }) => attempts,
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'failed',
      header: 'Failed',
      align: 'end',
      sortBy: ({ finished_at, updated_at }) => Date.parse(finished_at ?? updated_at),
      cell: ({ finished_at, updated_at }) => <RelativeTime at={finished_at ?? updated_at} />,
    },
  ]
}
