import { useMutation } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  type DeadLetterAction,
  type DeadLetterSelection,
  type Settled,
  settleDeadLetters,
} from '../../api/dead-letters.ts'
import { useWorkspace } from '../../session/scope.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/problem.tsx'

export type Settlement = { action: DeadLetterAction } & DeadLetterSelection

// The limit of the API.
const maxIdsPerCall = 100

type SettleDialogProps = { settlement: Settlement; onClose(): void; onDone(settled: Settled): unknown }

/** Asks for confirmation, then replays or discards dead letters. */
export function SettleDialog({ settlement, onClose, onDone }: SettleDialogProps): ReactNode {
  const { workspace } = useWorkspace()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => settle(workspace.id, settlement),
    onSuccess: onDone,
  })
  const isReplay = settlement.action === 'replay'
  const verb = isReplay ? 'Replay' : 'Discard'
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${verb} ${nameOf(settlement)}?`}
      description={
        isReplay
          ? 'Each one is sent again immediately as a new task with the same request and retries.'
          : 'They are removed from this list for good and will not be sent. The tasks and their runs are kept.'
      }
      action={verb}
      isDangerous={!isReplay}
      isPending={isPending}
      onConfirm={() => mutate()}
    >
      {error && <Problem error={error} />}
    </ConfirmDialog>
  )
}

function nameOf(settlement: Settlement): string {
  if ('ids' in settlement) {
    return settlement.ids.length === 1 ? '1 dead letter' : `${settlement.ids.length} dead letters`
  }
  return Object.keys(settlement.filter).length === 0 ? 'all dead letters' : 'all matching dead letters'
}

async function settle(workspaceId: string, { action, ...choice }: Settlement): Promise<Settled> {
  if ('filter' in choice) return settleDeadLetters(workspaceId, action, choice)
  let count = 0
  for (let at = 0; at < choice.ids.length; at += maxIdsPerCall) {
    const ids = choice.ids.slice(at, at + maxIdsPerCall)
    count += (await settleDeadLetters(workspaceId, action, { ids })).count
  }
  return { count, operation: null }
}
