import type { Subscription } from '@belfry/contract'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { deleteSubscription } from '../../api/subscriptions.ts'
import { useWorkspace } from '../../session/scope.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Problem } from '../../ui/problem.tsx'
import { useToast } from '../../ui/toast.tsx'

type DeleteSubscriptionProps = { subscription: Subscription; onClose(): void }

/** Asks for confirmation, then deletes a subscription. */
export function DeleteSubscription({ subscription: { id, topic, url }, onClose }: DeleteSubscriptionProps): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const toast = useToast()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => deleteSubscription(workspace.id, id),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: ['subscriptions', workspace.id] })
      toast(`Subscription to ${topic} deleted`)
      onClose()
    },
  })
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`Delete the subscription to ${topic}?`}
      description={`${url} will no longer receive these events. Events that are already published are still sent.`}
      action="Delete subscription"
      isDangerous
      isPending={isPending}
      onConfirm={() => mutate()}
    >
      {error && <Problem error={error} />}
    </ConfirmDialog>
  )
}
