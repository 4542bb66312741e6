import type { BulkOperation } from '@belfry/contract/bulk-operation'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import type { Filters } from '../../ui/filter-bar.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import styles from './bulk-progress.module.css'

export function BulkProgress({ filter }: { filter: Filters<'operation'> }) {
  const { workspace } = useWorkspace()
  const id = filter.first('operation')
  const { data, error, refetch } = useQuery({
    ...queryOf('getBulkOperation', { ws: workspace.id, operation: id }),
    enabled: id !== '',
    refetchInterval: ({ state }) => (state.data && state.data.status !== 'running' ? false : 1000),
  })
  const close = () => filter.set('operation', '')
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {data ? <Progress operation={data} onClose={close} /> : error && <Button onClick={close}>Close</Button>}
    </>
  )
}

const endsTasks = { object: 'task', list: 'listTasks', right: 'task.delete' } as const
const settles = { object: 'dead letter', list: 'listDeadLetters', right: 'dead_letter.replay' } as const
const actions = {
  cancel: { ...endsTasks, doing: 'Cancelling', done: 'Cancelled' },
  stop: { ...endsTasks, doing: 'Stopping', done: 'Stopped' },
  replay: { ...settles, doing: 'Replaying', done: 'Replayed' },
  discard: { ...settles, doing: 'Discarding', done: 'Discarded' },
} as const

function Progress({ operation, onClose }: { operation: BulkOperation; onClose(): void }) {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const { id, total, done } = operation
  const { list, right } = actions[operation.action]
  useEffect(() => {
    if (done > 0) void client.invalidateQueries({ queryKey: [list] })
  }, [client, list, done])
  const isRunning = operation.status === 'running'
  return (
    <section className={styles.operation} aria-label="Bulk action">
      <div className={styles.progress}>
        <p role="status">{textOf(operation)}</p>
        <progress max={total} value={isRunning ? done : total} aria-label="Progress" />
      </div>
      {isRunning ? (
        <ChangeButton
          text="Cancel"
          right={right}
          run={() => call('cancelOperation', { ws: workspace.id, operation: id })}
        />
      ) : (
        <Button onClick={onClose}>Close</Button>
      )}
    </section>
  )
}

function textOf({ action, status, ...counts }: BulkOperation): string {
  const { doing, done, object } = actions[action]
  const count = formatCount(counts.done)
  const progress = `${count} of ${formatCount(counts.total)}`
  switch (status) {
    case 'running':
      return `${doing} in the background: ${progress}`
    case 'done':
      return `${done} ${count} ${object}${counts.done === 1 ? '' : 's'}.`
    case 'cancelled':
      return `Cancelled after ${progress}. Those already ${done.toLowerCase()} stay so.`
  }
}
