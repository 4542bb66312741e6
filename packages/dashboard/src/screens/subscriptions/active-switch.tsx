import type { Subscription } from '@belfry/contract/subscription'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { messageOf } from '../../api/api-problem.ts'
import { updateSubscription } from '../../api/subscriptions.ts'
import { useWorkspace } from '../../session/scope.ts'
import { Switch } from '../../ui/checkbox.tsx'
import { useToast } from '../../ui/toast.tsx'

type ActiveSwitchProps = { subscription: Subscription; refusal: string | null }

/** Turns a subscription on and off. Shows the new state immediately, and the old one again after an error. */
export function ActiveSwitch({ subscription: { id, topic, active }, refusal }: ActiveSwitchProps): ReactNode {
  const { workspace } = useWorkspace()
  const client = useQueryClient()
  const toast = useToast()
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (isOn: boolean) => updateSubscription(workspace.id, id, { active: isOn }),
    onError: error => toast(messageOf(error), 'bad'),
    onSettled: () => client.invalidateQueries({ queryKey: ['subscriptions', workspace.id] }),
  })
  return (
    <Switch
      label={`${topic} is active`}
      isLabelHidden
      isOn={isPending ? variables : active}
      refusal={refusal}
      onChange={mutate}
    />
  )
}
