import type { DeadLetterOperation } from '@belfry/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { cancelOperation, operationQuery } from '../../api/dead-letters.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format-amount.ts'
import { Problem } from '../../ui/problem.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './dead-letters.module.css'

/** Shows the progress of the bulk action in the URL. */
export function Operation({ filter }: { filter: Filters<'operation'> }): ReactNode {
  const id = filter.first('operation')
  return id === '' ? null : <Progress id={id} onClose={() => filter.set('operation', '')} />
}

function Progress({ id, onClose }: { id: string; onClose(): void }): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const query = operationQuery(workspace.id, id)
  const { data: operation, error } = useQuery(query)
  const refusal = useRefusal('dead_letter.replay')
  const cancelling = useMutation({
    mutationFn: () => cancelOperation(workspace.id, id),
    onSuccess: cancelled => client.setQueryData(query.queryKey, cancelled),
  })
  const settled = operation?.settled
  useEffect(() => {
    if (settled) void client.invalidateQueries({ queryKey: ['dead-letters', workspace.id] })
  }, [client, workspace.id, settled])
  if (error) return <Problem error={error} onRetry={onClose} />
  if (!operation) return null
  const isRunning = operation.status === 'running'
  return (
    <section className={styles.operation} aria-label="Bulk action">
      <div className={styles.progress}>
        <p role="status">{textOf(operation)}</p>
        <progress max={operation.total} value={isRunning ? operation.settled : operation.total} aria-label="Progress" />
      </div>
      {isRunning ? (
        <Button isPending={cancelling.isPending} refusal={refusal} onClick={() => cancelling.mutate()}>
          Cancel
        </Button>
      ) : (
        <Button onClick={onClose}>Close</Button>
      )}
      {cancelling.error && <Problem error={cancelling.error} />}
    </section>
  )
}

function textOf({ action, status, settled, total }: DeadLetterOperation): string {
  const done = formatCount(settled)
  const all = formatCount(total)
  const isReplay = action === 'replay'
  switch (status) {
    case 'running':
      return `${isReplay ? 'Replaying' : 'Discarding'} in the background: ${done} of ${all}`
    case 'done':
      return `${isReplay ? 'Replayed' : 'Discarded'} ${done} dead letters.`
    case 'cancelled':
      return `Cancelled after ${done} of ${all}. Those already ${isReplay ? 'replayed' : 'discarded'} are not restored.`
  }
}
