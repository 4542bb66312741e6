import type { DeadLetterOperation } from '@belfry/contract/bulk-operation'
import type { ReactNode } from 'react'
import { formatCount } from '../../ui/format-amount.ts'
import type { Filters } from '../../ui/use-filters.ts'
import { BulkProgress } from '../tasks/bulk-progress.tsx'

/** Shows the progress of the bulk action in the URL. */
export function Operation({ filter }: { filter: Filters<'operation'> }): ReactNode {
  return (
    <BulkProgress<DeadLetterOperation>
      filter={filter}
      path="/api/v1/scheduler/dead-letters/operations"
      list="dead-letters"
      right="dead_letter.replay"
      countOf={({ settled }) => settled}
      textOf={textOf}
    />
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
