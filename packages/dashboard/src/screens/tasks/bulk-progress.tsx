import type { Action } from '@belfry/domain/permissions'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect } from 'react'
import { type BulkOperation, bulkOperationQuery, cancelBulkOperation } from '../../api/bulk-operations.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Problem } from '../../ui/problem.tsx'
import type { Filters } from '../../ui/use-filters.ts'
import styles from './bulk-progress.module.css'

type BulkProgressProps<Operation> = {
  /** The filter of the page that has the id of the operation. */
  filter: Filters<'operation'>
  /** The path of the operations in the API. */
  path: string
  /** The list that the operation changes, as its queries name it. */
  list: string
  right: Action
  /** Returns how many objects the operation has finished. */
  countOf(operation: Operation): number
  textOf(operation: Operation): string
}

/** Shows the progress of the bulk action in the URL. */
export function BulkProgress<Operation extends BulkOperation>(props: BulkProgressProps<Operation>): ReactNode {
  const id = props.filter.first('operation')
  return id === '' ? null : <Progress {...props} path={`${props.path}/${id}`} />
}

function Progress<Operation extends BulkOperation>({
  filter,
  path,
  list,
  right,
  countOf,
  textOf,
}: BulkProgressProps<Operation>): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const query = bulkOperationQuery<Operation>(workspace.id, path)
  const { data: operation, error } = useQuery(query)
  const refusal = useRefusal(right)
  const cancelling = useMutation({
    mutationFn: () => cancelBulkOperation<Operation>(workspace.id, path),
    onSuccess: cancelled => client.setQueryData<Operation>(query.queryKey, cancelled),
  })
  const count = operation && countOf(operation)
  useEffect(() => {
    if (count) void client.invalidateQueries({ queryKey: [list, workspace.id] })
  }, [client, workspace.id, list, count])
  const close = () => filter.set('operation', '')
  if (error) return <Problem error={error} onRetry={close} />
  if (!operation) return null
  const isRunning = operation.status === 'running'
  return (
    <section className={styles.operation} aria-label="Bulk action">
      <div className={styles.progress}>
        <p role="status">{textOf(operation)}</p>
        <progress max={operation.total} value={isRunning ? count : operation.total} aria-label="Progress" />
      </div>
      {isRunning ? (
        <Button isPending={cancelling.isPending} refusal={refusal} onClick={() => cancelling.mutate()}>
          Cancel
        </Button>
      ) : (
        <Button onClick={close}>Close</Button>
      )}
      {cancelling.error && <Problem error={cancelling.error} />}
    </section>
  )
}
